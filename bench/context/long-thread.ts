import { HumanMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import { createAgent, summarizationMiddleware as theirs, tool, type AgentMiddleware } from "langchain";
import { z } from "zod";
import { summarizationMiddleware } from "../../src/index.ts";
import * as storage from "../../src/storage/index.ts";
import { callTool, ScriptedModel } from "../../src/testing/index.ts";
import { Counter } from "../count.ts";
import { collectYoung } from "../garbage.ts";
import { number } from "../lines.ts";
import { table } from "../markdown.ts";
import type { SaverKind } from "../time/place.ts";
import type { Product } from "../time/product.ts";
import { embeddedSavers, officialSqlite, OURS } from "../time/savers.ts";
import { spreadOf } from "../time/statistics.ts";
import { cachedShare, heldShare } from "./requests.ts";

const REQUEST = "Read the tickets. T03 only after T08. Change nothing in tickets/.";
const SIZE = { trigger: { messages: 40 }, keep: { messages: 8 } };

/** Ways to treat the messages of a thread at a summary. */
const WAYS: Record<string, (writer: ScriptedModel) => AgentMiddleware[]> = {
  "messages rewritten (LangChain)": (writer) => {
    const create = theirs as unknown as (options: object) => AgentMiddleware;
    return [create({ model: writer, ...SIZE })];
  },
  "messages kept (holdfast)": (writer) => [
    summarizationMiddleware({ model: writer, ...SIZE }) as AgentMiddleware,
  ],
  "no summary": () => [],
};

/** A long thread of results of 1 kB, in one saver. */
export interface LongThread {
  way: string;
  saver: string;
  turns: number;
  summaries: number;
  /** In megabytes. */
  stored: number;
  /** Milliseconds of processor time, the median of some runs. */
  cpuPerTurn: number;
  promptTokens: number;
  /** Shares of model calls with the request in them, and of prompt tokens that stood in the request before. */
  held: number;
  cached: number;
}

export async function longThreads({ quick }: { quick: boolean }): Promise<LongThread[]> {
  const turns = quick ? 60 : 200;
  const ours = embeddedSavers({ storage } as unknown as Product).filter(({ name }) => name === OURS);
  const official = await officialSqlite().catch(() => undefined);
  const rows: LongThread[] = [];
  for (const saver of [...ours, ...(official ? [official] : [])]) {
    const runs = Object.keys(WAYS).map((): LongThread[] => []);
    // By turns, so that what slows the machine down slows all.
    for (let round = 0; round < (quick ? 1 : 3); round += 1) {
      for (const [at, way] of Object.keys(WAYS).entries()) runs[at]!.push(await played(way, saver, turns));
    }
    for (const [first, ...others] of runs) {
      const samples = [first!, ...others].map(({ cpuPerTurn }) => cpuPerTurn);
      rows.push({ ...first!, cpuPerTurn: spreadOf(samples).median });
    }
  }
  return rows;
}

async function played(way: string, saver: SaverKind, turns: number): Promise<LongThread> {
  const place = await saver.create();
  try {
    const steps = Array.from({ length: turns }, (_, n) => callTool("read", { n }));
    const model = new ScriptedModel([...steps, "Done."]);
    const writer = new ScriptedModel([({ messages }) => `Read so far: ${messages.length}.`], { loop: true });
    const agent = createAgent({
      model,
      tools: [read],
      middleware: WAYS[way]!(writer),
      checkpointer: (await place.open()) as BaseCheckpointSaver,
    });
    collectYoung();
    const start = process.cpuUsage();
    await agent.invoke(
      { messages: [new HumanMessage(REQUEST)] },
      { configurable: { thread_id: "t" }, recursionLimit: 10 * turns },
    );
    const { user, system } = process.cpuUsage(start);
    const { prompt, cached } = cachedShare(model.requests, new Counter("o200k", "text"));
    return {
      way,
      saver: saver.name,
      turns,
      summaries: writer.requests.length,
      stored: (await place.close())! / 1e6,
      cpuPerTurn: (user + system) / 1000 / turns,
      promptTokens: prompt,
      held: heldShare(model.requests, REQUEST),
      cached: cached / prompt,
    };
  } finally {
    await place.remove();
  }
}

const read = tool(({ n }) => `ticket ${n}, paid\n`.repeat(64), {
  name: "read",
  description: "Reads a ticket.",
  schema: z.object({ n: z.number() }),
});

export function longThreadTable(rows: readonly LongThread[]): string {
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  return table(
    ["saver", "thread", "summaries", "MB", "ms per turn", "prompt tokens", "held", "cached"],
    rows.map((row) => [
      row.saver,
      row.way,
      String(row.summaries),
      number(row.stored),
      number(row.cpuPerTurn),
      String(row.promptTokens),
      percent(row.held),
      percent(row.cached),
    ]),
  );
}
