import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { createAgent, todoListMiddleware, tool, type AgentMiddleware } from "langchain";
import { z } from "zod";
import { planMiddleware } from "../src/index.ts";
import { sqliteSaver } from "../src/storage/index.ts";
import { callTool, ScriptedModel, type ScriptedCall, type Step } from "../src/testing/scripted-model.ts";
import { CountingSaver } from "./counting-saver.ts";
import { CLASSIC, LEAN_DIALECT, type System } from "./systems.ts";
import { itemsOf, REQUEST, scriptOf, type Dialect } from "./task.ts";

const ITEMS = 20;
const CONFIG = { configurable: { thread_id: "t" }, recursionLimit: 10_000 };
const input = (): object => ({ messages: [new HumanMessage({ content: REQUEST, id: "request" })] });

/** Supersteps of the graph per model turn, on a plan of 20 items. */
export async function superstepsPerTurn(system: System): Promise<number> {
  const script = scriptOf(ITEMS, system.plan);
  const saver = new CountingSaver();
  const agent = system.create({ model: new ScriptedModel(script), size: ITEMS, checkpointer: saver });
  await agent.invoke(input(), CONFIG);
  // The first checkpoint is the input's.
  return (saver.checkpoints - 1) / script.length;
}

/** What `sqliteSaver` has on disk after a number of turns with 1 kB results, under `lean` with 20 items. */
export async function sqliteBytes(turns: number): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  try {
    const file = join(folder, "threads.db");
    const saver = await sqliteSaver(file);
    await longRun(turns, { dialect: LEAN_DIALECT, middleware: planMiddleware(), checkpointer: saver });
    saver.close();
    return statSync(file).size;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What LangGraph gives an official saver to keep for the same turns under `todoListMiddleware`. */
export async function peerBytes(turns: number): Promise<number> {
  const checkpointer = new CountingSaver();
  await longRun(turns, { dialect: CLASSIC, middleware: todoListMiddleware(), checkpointer });
  return checkpointer.bytes;
}

/** One work call per turn; an item is done after every twentieth of the turns, reported beside the work. */
async function longRun(
  turns: number,
  { dialect, middleware, checkpointer }: { dialect: Dialect; middleware: unknown; checkpointer: unknown },
): Promise<void> {
  const items = itemsOf(ITEMS);
  const steps = Array.from({ length: turns }, (_, at): Step => {
    const done = Math.floor((at * ITEMS) / turns);
    const before = Math.floor(((at - 1) * ITEMS) / turns);
    const report: ScriptedCall[] =
      at === 0 ? [dialect.write(items)] : done > before ? [dialect.progress(items, done)] : [];
    return [...report, callTool("work", { n: at })];
  });
  const agent = createAgent({
    model: new ScriptedModel([...steps, dialect.progress(items, ITEMS), "Finished."]),
    tools: [kilobyteTool],
    middleware: [middleware as AgentMiddleware],
    checkpointer: checkpointer as never,
  });
  await agent.invoke(input() as never, CONFIG);
}

const kilobyteTool = tool(({ n }) => `result ${n} `.padEnd(1024, `${n} `), {
  name: "work",
  description: "Does one step.",
  schema: z.object({ n: z.number() }),
});
