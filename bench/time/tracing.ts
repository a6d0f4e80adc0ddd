import { spawn } from "node:child_process";
import { once } from "node:events";
import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import type { RunEvent } from "../../src/threads/events/events.ts";
import { Thread } from "../../src/threads/thread/thread.ts";
import { collectYoung } from "../garbage.ts";
import { figureLine } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type Section, type SectionGoal, type SectionOptions } from "../section.ts";
import { REQUEST } from "../task.ts";
import { LATENCY } from "./crowd.ts";
import { loadProduct, type Product } from "./product.ts";
import { longScript } from "./script.ts";
import { ratioOf, spreadOf } from "./statistics.ts";
import { DEEP, timedSystems, type TimedSystem } from "./systems.ts";

/**
 * Runs as the command line and the server do them, by turns without and with a collector. Their model answers at once:
 * a turn is what the harness does in it, which makes the share of tracing in it as large as it can be.
 */
export interface Tracing {
  turns: number;
  /** Milliseconds of processor time per turn. */
  plain: number[];
  traced: number[];
  /** What tracing takes when it is told the events of a run once more, as two runs differ by more than that. */
  own: number[];
  spansPerTurn: number;
}

/** Takes what it is sent, in a process of its own: what it does is not what tracing costs. */
const COLLECTOR = `
let spans = 0;
const server = require("node:http").createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  spans += text.split('"spanId"').length - 1;
  response.end(String(spans));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
`;

/** What traces and metrics add to a turn. */
export async function tracingSection({ quick, progress }: SectionOptions): Promise<Section> {
  const product = await loadProduct();
  const systems = await timedSystems(product);
  progress("runs with and without a collector");
  const tracing = await measureTracing({ product, systems, quick });
  return {
    name: "tracing",
    lines: tracingLines(tracing),
    goals: tracingGoals(tracing),
    markdown: [
      "## What tracing adds\n",
      "- `createDeepAgent` on a memory saver with a model that answers at once: a turn is what the harness does in it, which makes the share as large as it can be. Every span and metric is posted to a collector in another process.",
      "- *Their own* is the processor time of telling the events of a finished run to the traces once more, with everything posted: tracing does nothing else in a run, and two runs differ by more than it takes.\n",
      tracingTable(tracing),
      "",
    ].join("\n"),
    data: tracing,
    plots: [],
  };
}

async function measureTracing({
  product,
  systems,
  quick,
}: {
  product: Product;
  systems: readonly TimedSystem[];
  quick: boolean;
}): Promise<Tracing> {
  const deep = systems.find(({ name }) => name === DEEP)!;
  const tracing: Tracing = { turns: quick ? 25 : 100, plain: [], traced: [], own: [], spansPerTurn: 0 };
  const collector = spawn(process.execPath, ["-e", COLLECTOR], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [port] = (await once(collector.stdout, "data")) as [Buffer];
    const endpoint = `http://127.0.0.1:${String(port).trim()}`;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const rounds = quick ? 3 : 15;
    // The first ones warm up.
    for (let round = -2; round < rounds; round += 1) {
      for (const isTraced of round % 2 === 0 ? [false, true] : [true, false]) {
        const { time, events } = await sample({
          product,
          deep,
          turns: tracing.turns,
          env: isTraced ? env : {},
        });
        const own = isTraced ? 0 : await retell(events, product, env);
        if (round < 0) continue;
        tracing[isTraced ? "traced" : "plain"].push(time / tracing.turns);
        if (!isTraced) tracing.own.push(own / tracing.turns);
      }
    }
    const response = await fetch(endpoint, { method: "POST" });
    tracing.spansPerTurn = Number(await response.text()) / (2 * (rounds + 2) * tracing.turns);
  } finally {
    collector.stdin.end();
  }
  return tracing;
}

async function sample({
  product: { runs, testing },
  deep,
  turns,
  env,
}: {
  product: Product;
  deep: TimedSystem;
  turns: number;
  env: Record<string, string>;
}): Promise<{ time: number; events: RunEvent[] }> {
  const events: RunEvent[] = [];
  const model = new testing.ScriptedModel(longScript(turns, deep.plan));
  const agent = deep.create(model, new MemorySaver()) as never;
  collectYoung();
  const start = process.cpuUsage();
  const traces = runs.tracesFrom(env);
  const { outcome } = await runs.runThread(
    { messages: [new HumanMessage({ content: REQUEST, id: crypto.randomUUID() })] },
    {
      thread: new Thread(agent, "t"),
      model: { name: "scripted:model" },
      events: new runs.RunEvents("t", (event) => void events.push(event)),
      signal: new AbortController().signal,
      answer: async () => undefined,
      resumed: false,
      held: async () => {},
      traces,
    },
  );
  await traces?.close();
  const time = since(start);
  if (outcome !== "done") throw new Error(`A run for the time of tracing ended as ${outcome}.`);
  return { time, events };
}

async function retell(
  events: readonly RunEvent[],
  { runs }: Product,
  env: Record<string, string>,
): Promise<number> {
  collectYoung();
  const start = process.cpuUsage();
  const traces = runs.tracesFrom(env)!;
  const follow = traces.run(undefined);
  for (const event of events) follow(event);
  await traces.close();
  return since(start);
}

function since(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

/** Of a turn whose model takes this long, in milliseconds. */
function shareOf({ plain, own }: Tracing, latency: number): number {
  return ratioOf(
    own,
    plain.map((time) => time + latency),
  );
}

function tracingLines(tracing: Tracing): string[] {
  const { turns, plain, traced, own, spansPerTurn } = tracing;
  return [
    figureLine(["traced-ms-per-turn", turns, DEEP], spreadOf(traced).median, spreadOf(plain).median),
    figureLine(["tracing-ms-per-turn", turns, DEEP], spreadOf(own).median),
    figureLine(["tracing-share-of-harness", turns, DEEP], shareOf(tracing, 0)),
    figureLine([`tracing-share-with-a-model-of-${LATENCY}-ms`, turns, DEEP], shareOf(tracing, LATENCY)),
    figureLine(["spans-per-turn", turns, DEEP], spansPerTurn),
  ];
}

/** Short runs say nothing. */
function tracingGoals(tracing: Tracing): SectionGoal[] {
  const { turns } = tracing;
  if (turns < 100) return [];
  const name = `traces and metrics as a share of a turn of createDeepAgent whose model answers at once, at ${turns} turns`;
  return [goalOf({ name, value: shareOf(tracing, 0), limit: 0.02 })];
}

function tracingTable(tracing: Tracing): string {
  const { turns, plain, traced, own, spansPerTurn } = tracing;
  const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;
  return table(
    [
      "turns",
      "without, ms per turn",
      "with traces and metrics",
      "their own",
      "share",
      `share where a model takes ${LATENCY} ms`,
      "spans per turn",
    ],
    [
      [
        String(turns),
        ...[plain, traced, own].map((samples) => spreadOf(samples).median.toFixed(3)),
        percent(shareOf(tracing, 0)),
        percent(shareOf(tracing, LATENCY)),
        spansPerTurn.toFixed(3),
      ],
    ],
  );
}
