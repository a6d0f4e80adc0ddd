import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { HarnessError } from "../../src/errors.ts";
import { bubblewrapWorks } from "../../src/files/shell/isolation/bubblewrap.ts";
import { chooseModel, explainModelError, type ChosenModel } from "../../src/models/index.ts";
import { estimate, priceText } from "./estimate.ts";
import { LIVE_HELP, readLiveOptions, type LiveOptions } from "./options.ts";
import { runOrder, taskOrder } from "./order.ts";
import { mainTable, markdownOf, reportOf } from "./report.ts";
import { Results, type ResultsHead, type RunKey } from "./results.ts";
import { Session, type Stop } from "./session.ts";
import { LIVE_SYSTEMS } from "./systems.ts";
import { fingerprint, LIVE_TASKS } from "./tasks/index.ts";

/** `npm run bench -- --live`. Returns the exit code. */
export async function live(args: readonly string[]): Promise<number> {
  try {
    const options = readLiveOptions(args, process.env);
    if (options) return await measure(options);
    console.log(LIVE_HELP);
    return 0;
  } catch (error) {
    if (!(error instanceof HarnessError)) throw error;
    console.error(`bench: ${error.message}`);
    return 2;
  }
}

async function measure(options: LiveOptions): Promise<number> {
  if (options.sandbox && !bubblewrapWorks()) {
    const how = "install bubblewrap, or use --no-sandbox where the whole machine is a sandbox";
    throw new HarnessError("invalid-options", `A model's commands are run in a sandbox only: ${how}.`);
  }
  const { model, seed, retries, prices } = options;
  const chosen = await chooseModel({ model, settings: { maxRetries: retries } });
  const head: ResultsHead = { version: 1, model: chosen.name, seed, tasks: fingerprint(`${seed}/1`) };
  const results = Results.open(options.out ?? defaultFolder(chosen.name), head);
  try {
    const tasks = taskOrder(LIVE_TASKS, seed).slice(0, options.tasks);
    const all = runOrder(tasks, LIVE_SYSTEMS, options);
    const left = all.filter((key) => !results.has(key));
    if (left.length > 0) await agree({ all, left, results, chosen, options });
    const session = new Session({ chosen, results, options, keys: left });
    const stop = left.length > 0 ? await session.run() : undefined;
    writeReport(results, head, options);
    return say(stop, { chosen, session, prices });
  } finally {
    results.close();
  }
}

/** Says what is to come and what it will cost, and asks whether to go on. */
async function agree({
  all,
  left,
  results,
  chosen,
  options,
}: {
  all: readonly RunKey[];
  left: readonly RunKey[];
  results: Results;
  chosen: ChosenModel;
  options: LiveOptions;
}): Promise<void> {
  const { budget, prices, yes } = options;
  const cost = priceText(estimate(left, results.counted), prices);
  const basis =
    results.counted.length > 0 ? "by the runs so far" : "by assumption; it can be several times as much";
  const limit = budget === undefined ? "" : ` This start stops at $${budget}.`;
  console.error(
    `bench: ${chosen.name}: ${all.length} runs, ${all.length - left.length} of them done. The others take about ${cost} (${basis}).${limit}`,
  );
  if (!prices)
    console.error(
      "bench: the cost is not known: --prices in,out[,cached[,written]] in dollars per million tokens",
    );
  if (yes || isLocal(chosen.baseUrl)) return;
  if (!process.stdin.isTTY) {
    throw new HarnessError("invalid-options", "This costs money: say --yes to go on without being asked.");
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question("Go on? [y/N] ");
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new HarnessError("invalid-options", "Nothing was started.");
}

function writeReport(results: Results, head: ResultsHead, { prices }: LiveOptions): void {
  const report = reportOf(head, results.records, prices);
  writeFileSync(join(results.folder, "report.md"), markdownOf(report));
  writeFileSync(join(results.folder, "report.json"), `${JSON.stringify(report, null, 2)}\n`);
  if (report.rows.length > 0) console.log(mainTable(report));
  const folder = relative(process.cwd(), results.folder);
  console.log(
    `\nThe report is ${join(folder, "report.md")} (and report.json); the runs are in runs.jsonl beside it.`,
  );
}

function say(
  stop: Stop | undefined,
  { chosen, session, prices }: { chosen: ChosenModel; session: Session; prices: LiveOptions["prices"] },
): number {
  if (session.isUsed) console.error(`bench: this start took ${priceText(session.spent, prices)}`);
  const later = "The same command resumes it.";
  switch (stop?.why) {
    case undefined:
      return 0;
    case "budget":
      console.error(`bench: stopped at the budget. ${later}`);
      return 0;
    case "unmetered":
      console.error(`bench: ${chosen.name} does not say what a call takes, so that no budget can be kept.`);
      return 1;
    case "signal":
      console.error(`bench: stopped. ${later}`);
      return 130;
    case "provider":
      console.error(`bench: ${explainModelError(stop.error, chosen)} ${later}`);
      return 1;
  }
}

/** Beside the benchmark, and ignored by git. */
function defaultFolder(model: string): string {
  return fileURLToPath(new URL(`../live-results/${model.replaceAll(/[^\w.-]+/g, "-")}`, import.meta.url));
}

/** A server on this machine costs nothing. */
function isLocal(baseUrl: string | undefined): boolean {
  return baseUrl !== undefined && ["localhost", "127.0.0.1", "[::1]"].includes(new URL(baseUrl).hostname);
}
