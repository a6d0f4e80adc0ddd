import type { Prices } from "../../src/threads/view/prices.ts";
import { number } from "../lines.ts";
import { table } from "../markdown.ts";
import { readResults } from "../results.ts";
import type { Estimate } from "../worth/intervals.ts";
import { dollars } from "./estimate.ts";
import { pairedRow, rowOf, type KindRow, type LiveRow, type PairedRow } from "./figures.ts";
import type { ResultsHead, RunRecord } from "./results.ts";
import { LIVE_SYSTEMS, NO_PLAN } from "./systems.ts";
import { KINDS } from "./tasks/task.ts";

/** Everything that is known of a model so far. */
export interface LiveReport {
  head: ResultsHead;
  prices?: Prices;
  rows: LiveRow[];
  paired: PairedRow[];
  /** Runs that do not count: the provider failed, or the benchmark was stopped. */
  notCounted: { infrastructure: number; interrupted: number };
  /** The share of finished tasks in the simulation, by system. */
  simulated: Record<string, Estimate>;
}

/** Adds up what was run. */
export function reportOf(
  head: ResultsHead,
  records: readonly RunRecord[],
  prices: Prices | undefined,
): LiveReport {
  const counted = records.filter(({ end }) => end !== "infrastructure" && end !== "interrupted");
  const count = (end: string): number => records.filter((record) => record.end === end).length;
  const names = LIVE_SYSTEMS.map(({ name }) => name);
  return {
    head,
    ...(prices && { prices }),
    rows: names.flatMap((name) => {
      const runs = counted.filter(({ system }) => system === name);
      return runs.length > 0 ? [rowOf(name, runs, prices)] : [];
    }),
    paired: names
      .filter((name) => name !== NO_PLAN)
      .flatMap((name) => pairedRow(name, counted, prices) ?? []),
    notCounted: { infrastructure: count("infrastructure"), interrupted: count("interrupted") },
    simulated: simulated(),
  };
}

/** The report as Markdown. */
export function markdownOf(report: LiveReport): string {
  const { head, rows, paired, notCounted, prices } = report;
  const unpriced = prices
    ? ""
    : " Without prices there is no cost: set HOLDFAST_PRICES and start the command again.";
  return [
    `# Worth, on ${head.model}`,
    "",
    `Written by \`npm run bench -- --live\`, seed ${head.seed}, tasks ${head.tasks}. A task is finished when a program finds its outcome right. Intervals are 95%: Wilson for shares, Agresti and Min for differences of shares, normal for means, bootstrap over tasks for ratios.${unpriced}`,
    "",
    mainTable(report),
    "",
    "Simulated: the share in the simulation of `npm run bench` (bench/RESULTS.md), where a program with stated faults plays the model. The two have different tasks; what can be compared is the order of the systems and the differences between them.",
    "",
    "## Beside no plan, on the same tasks",
    "",
    pairedTable(paired),
    "",
    "The share of tasks that were finished more, and how many times as much was spent. An interval that holds 0% (or 1×) shows no difference.",
    "",
    "## By kind of task",
    "",
    kindTable(rows),
    "",
    `Not counted: ${notCounted.infrastructure} runs in which the provider failed, ${notCounted.interrupted} that were stopped. They are made again. Judged by what they left: ${sumOf(rows, "crashed")} runs that ended with an error, ${sumOf(rows, "outOfCalls")} that had no end.`,
    "",
  ].join("\n");
}

/** The table that is also printed. */
export function mainTable({ rows, simulated: shares, prices }: LiveReport): string {
  const head = [
    "system",
    "runs",
    "finished",
    "simulated",
    "tokens in per task",
    "of them cached",
    "tokens out per task",
    "tokens per finished task",
    ...(prices ? ["cost per task", "cost per finished task"] : []),
    "model calls per task",
    "turns per task",
  ];
  return table(
    head,
    rows.map((row) => [
      row.system,
      String(row.runs),
      interval(row.finished, percent),
      shares[row.system] ? percent(shares[row.system]!.value) : "n/a",
      interval(row.inputTokens, number),
      interval(row.cachedTokens, number),
      interval(row.outputTokens, number),
      interval(row.tokensPerFinished, number),
      ...(row.cost && row.costPerFinished
        ? [interval(row.cost, dollars), interval(row.costPerFinished, dollars)]
        : []),
      interval(row.modelCalls, number),
      interval(row.turns, number),
    ]),
  );
}

function pairedTable(rows: readonly PairedRow[]): string {
  const times = (value: number): string => `${number(value)}×`;
  return table(
    ["system", "tasks in common", "finished", "tokens", "cost", "model calls"],
    rows.map(({ system, pairs, finished, tokens, cost, modelCalls }) => [
      system,
      String(pairs),
      interval(finished, (value) => `${value > 0 ? "+" : ""}${percent(value)}`),
      interval(tokens, times),
      cost ? interval(cost, times) : "n/a",
      interval(modelCalls, times),
    ]),
  );
}

function kindTable(rows: readonly LiveRow[]): string {
  const kinds = KINDS.filter((kind) => rows.some(({ byKind }) => byKind[kind]));
  return table(
    ["kind", ...rows.map(({ system }) => system)],
    kinds.map((kind) => [kind, ...rows.map(({ byKind }) => (byKind[kind] ? kindCell(byKind[kind]) : "n/a"))]),
  );
}

/** Finished tasks with their interval, and the means of the rest. */
function kindCell({ finished, tokens, cost, modelCalls, turns }: KindRow): string {
  const spent = cost ? `, ${dollars(cost.value)}` : "";
  const counts = `${number(modelCalls.value)} calls, ${number(turns.value)} turns`;
  return `${interval(finished, percent)}, ${number(tokens.value)} tokens${spent}, ${counts}`;
}

/** Nothing that was finished makes a ratio that is no number. */
function interval({ value, low, high }: Estimate, text: (value: number) => string): string {
  if (!Number.isFinite(value)) return "n/a";
  const end = (one: number): string => (Number.isFinite(one) ? text(one) : "∞");
  return `${text(value)} (${end(low)}–${end(high)})`;
}

function percent(part: number): string {
  return `${Number((part * 100).toFixed(1))}%`;
}

function sumOf(rows: readonly LiveRow[], field: "crashed" | "outOfCalls"): number {
  return rows.reduce((sum, row) => sum + row[field], 0);
}

function simulated(): Record<string, Estimate> {
  const { data } = readResults().find(({ name }) => name === "worth") ?? {};
  const { rows = [] } = (data ?? {}) as { rows?: { system: string; figures: { finished: Estimate } }[] };
  return Object.fromEntries(
    LIVE_SYSTEMS.flatMap(({ name, simulated: other }) => {
      const row = rows.find(({ system }) => system === other);
      return row ? [[name, row.figures.finished]] : [];
    }),
  );
}
