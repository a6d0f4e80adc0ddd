import { spawn } from "node:child_process";
import { once } from "node:events";
import { MemorySaver } from "@langchain/langgraph";
import { figureLine } from "../lines.ts";
import { table } from "../markdown.ts";
import { goalOf, type SectionGoal } from "../section.ts";
import { REQUEST } from "../task.ts";
import type { Product } from "./product.ts";
import { longScript } from "./script.ts";
import { ratioOf, spreadOf } from "./statistics.ts";
import { DEEP, type TimedSystem } from "./systems.ts";

/** Runs as the command line and the server do them, by turns without and with a collector. */
export interface Tracing {
  turns: number;
  /** Milliseconds of processor time per turn. */
  plain: number[];
  traced: number[];
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

export async function measureTracing({
  product,
  systems,
  quick,
}: {
  product: Product;
  systems: readonly TimedSystem[];
  quick: boolean;
}): Promise<Tracing> {
  const deep = systems.find(({ name }) => name === DEEP)!;
  const tracing: Tracing = { turns: quick ? 25 : 100, plain: [], traced: [], spansPerTurn: 0 };
  const collector = spawn(process.execPath, ["-e", COLLECTOR], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [port] = (await once(collector.stdout, "data")) as [Buffer];
    const endpoint = `http://127.0.0.1:${String(port).trim()}`;
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    const rounds = quick ? 3 : 30;
    // The first ones warm up.
    for (let round = -2; round < rounds; round += 1) {
      for (const isTraced of round % 2 === 0 ? [false, true] : [true, false]) {
        const time = await sample({ product, deep, turns: tracing.turns, env: isTraced ? env : {} });
        if (round >= 0) tracing[isTraced ? "traced" : "plain"].push(time);
      }
    }
    const response = await fetch(endpoint, { method: "POST" });
    tracing.spansPerTurn = Number(await response.text()) / ((rounds + 2) * tracing.turns);
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
}): Promise<number> {
  const model = new testing.ScriptedModel(longScript(turns, deep.plan));
  const agent = deep.create(model, new MemorySaver()) as never;
  globalThis.gc?.();
  const start = process.cpuUsage();
  const traces = runs.tracesFrom(env);
  const { outcome } = await runs.conduct(runs.taskInput(REQUEST, {}), {
    agent,
    thread: "t",
    model: { name: "scripted:model" },
    events: new runs.RunEvents("t", () => {}),
    signal: new AbortController().signal,
    answer: async () => undefined,
    resumed: false,
    held: async () => {},
    traces,
  });
  await traces?.close();
  const { user, system } = process.cpuUsage(start);
  if (outcome !== "done") throw new Error(`A run for the time of tracing ended as ${outcome}.`);
  return (user + system) / 1000 / turns;
}

export function tracingLines({ turns, plain, traced, spansPerTurn }: Tracing): string[] {
  return [
    figureLine(["traced-ms-per-turn", turns, DEEP], spreadOf(traced).median, spreadOf(plain).median),
    figureLine(["spans-per-turn", turns, DEEP], spansPerTurn),
  ];
}

/** Short runs say nothing. */
export function tracingGoals({ turns, plain, traced }: Tracing): SectionGoal[] {
  if (turns < 100) return [];
  const name = `time per turn of createDeepAgent with traces and metrics vs without at ${turns} turns`;
  return [goalOf({ name, value: ratioOf(traced, plain), limit: 1.02 })];
}

export function tracingTable({ turns, plain, traced, spansPerTurn }: Tracing): string {
  const shown = [spreadOf(plain).median, spreadOf(traced).median, ratioOf(traced, plain), spansPerTurn];
  return table(
    ["turns", "without, ms per turn", "with traces and metrics", "ratio", "spans per turn"],
    [[String(turns), ...shown.map((value) => value.toFixed(3))]],
  );
}
