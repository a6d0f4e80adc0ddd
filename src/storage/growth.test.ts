import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage } from "@langchain/core/messages";
import { createAgent, tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { planMiddleware } from "../middleware/plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { Encoder } from "./codec/encode.ts";
import { Memo } from "./codec/memo.ts";
import { MessageLists } from "./codec/message-lists.ts";
import { sqliteSaver } from "./sqlite.ts";
import { Blobs } from "./sqlite/blobs.ts";
import type { Connection } from "./sqlite/database/connection.ts";
import { openDatabase } from "./sqlite/file/open.ts";
import type { SqliteSaver } from "./sqlite/saver.ts";

const MEGABYTE = 1_000_000;
const ITEMS = 20;
const THREAD = { configurable: { thread_id: "t" } };

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "holdfast-growth-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("turns with a result of 1 kB each and a plan of 20 items", () => {
  it("take at most 4 MB for 200, and at most 25% more each in the second hundred", async () => {
    const [at20, at100, at200] = [await bytesAfter(20), await bytesAfter(100), await bytesAfter(200)];
    expect(at200).toBeLessThanOrEqual(4 * MEGABYTE);
    const [before, after] = [(at100 - at20) / 80, (at200 - at100) / 100];
    expect(after / before).toBeLessThanOrEqual(1.25);
  });

  it("leave a small log after 60, and a plan edit stores little more than itself", async () => {
    const file = join(folder, "threads.db");
    const saver = await sqliteSaver(file);
    await run(saver, 60);
    expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(5 * MEGABYTE);
    const before = await blobBytes(file);
    await agentOf(saver, 0).graph.updateState(THREAD, { todos: ["Another plan"] });
    expect((await blobBytes(file)) - before).toBeLessThanOrEqual(2500);
    saver.close();
  });
});

describe("a list", () => {
  it.each([
    ["appended to", (list: string[], item: string) => [...list, item]],
    ["shifted by one, as a window is", (list: string[], item: string) => [...list.slice(1), item]],
    ["inserted into", (list: string[], item: string) => list.toSpliced(200, 0, item)],
  ])("with 400 texts that is %s stores little more than the new text", async (_, change) => {
    const before = Array.from({ length: 400 }, (_item, at) => `text ${at} `.padEnd(500, "."));
    const growth = await bytesOfChange(before, change(before, "new ".padEnd(500, ".")));
    expect(growth).toBeLessThanOrEqual(500 + 2500);
  });
});

it("a record of 400 files stores little more than the changed file", async () => {
  const files = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`/f${at}`, `${at} `.repeat(200)]));
  expect(await bytesOfChange(files, { ...files, "/f200": "new ".repeat(100) })).toBeLessThanOrEqual(
    400 + 2500,
  );
});

async function bytesAfter(turns: number): Promise<number> {
  const file = join(folder, `${turns}.db`);
  const saver = await sqliteSaver(file);
  const messages = await run(saver, turns);
  expect(messages).toBeGreaterThanOrEqual(2 * turns);
  saver.close();
  return statSync(file).size;
}

async function run(checkpointer: SqliteSaver, turns: number): Promise<number> {
  const config = { ...THREAD, recursionLimit: 10_000 };
  const state = await agentOf(checkpointer, turns).invoke({ messages: [new HumanMessage("go")] }, config);
  return state.messages.length;
}

function agentOf(checkpointer: SqliteSaver, turns: number) {
  const work = tool(({ n }) => `result ${n} `.padEnd(1024, `${n} `), {
    name: "work",
    description: "work",
    schema: z.object({ n: z.number() }),
  });
  const every = turns / ITEMS;
  const todos = Array.from({ length: ITEMS }, (_, at) => `Step ${at + 1} of a plan that takes many turns`);
  const steps = Array.from({ length: turns }, (_, n): Step => {
    const call = callTool("work", { n });
    if (n === 0) return [callTool("write_todos", { todos }), call];
    return n % every === 0 ? [callTool("update_todos", { done: String(n / every) }), call] : call;
  });
  return createAgent({
    model: new ScriptedModel([...steps, callTool("update_todos", { done: String(ITEMS) }), "finished"]),
    tools: [work],
    middleware: [planMiddleware()],
    checkpointer,
  });
}

async function blobBytes(file: string): Promise<number> {
  const connection = await openDatabase(file);
  try {
    return bytesIn(connection);
  } finally {
    connection.close();
  }
}

function bytesIn(connection: Connection): number {
  const row = connection.get("SELECT SUM(LENGTH(body) + LENGTH(hash) + 20) AS bytes FROM blobs");
  return row!["bytes"] as number;
}

/** What storing the second value adds to a store that has the first. */
async function bytesOfChange(before: unknown, after: unknown): Promise<number> {
  const connection = await openDatabase(":memory:");
  const encoder = new Encoder({
    blobs: new Blobs(connection),
    memo: new Memo(),
    lists: new MessageLists(),
    thread: 1,
  });
  encoder.encode(before);
  const first = bytesIn(connection);
  encoder.encode(after);
  const second = bytesIn(connection);
  connection.close();
  return second - first;
}
