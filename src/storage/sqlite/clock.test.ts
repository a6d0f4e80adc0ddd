import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScriptedModel } from "../../testing/index.ts";
import { sqliteSaver } from "../sqlite.ts";
import type { SqliteSaver } from "./saver.ts";

const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;

let folder: string;
let file: string;
let saver: SqliteSaver;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-clock-"));
  file = join(folder, "threads.db");
  saver = await sqliteSaver(file);
  vi.useFakeTimers({ toFake: ["Date"], now: NOON });
});
afterEach(() => {
  vi.useRealTimers();
  saver.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("after the clock was set back an hour", () => {
  beforeEach(async () => {
    await say("old", "first");
    await say("t", "first");
    vi.setSystemTime(NOON - HOUR);
    await say("t", "second");
  });

  it("a thread shows its last state", async () => {
    expect(await messagesAt("t")).toEqual(["first", "answer to first", "second", "answer to second"]);
  });

  it("its history is newest first, and can be read in parts", async () => {
    const all = await ids("t");
    const lengths = await Promise.all(all.map(async (id) => (await messagesAt("t", id)).length));
    expect(lengths).toEqual(lengths.toSorted((a, b) => b - a));
    const before = thread("t", all[2]);
    expect(await ids("t", { before })).toEqual(all.slice(3));
    expect(await ids("t", { before, limit: 1 })).toEqual([all[3]]);
  });

  it("the last used thread is listed first", async () => {
    await say("new", "first");
    expect((await saver.listThreads()).map(({ id }) => id)).toEqual(["new", "t", "old"]);
  });
});

it("the history lists all checkpoints before a checkpoint that is not stored", async () => {
  await say("t", "first");
  const all = await ids("t");
  expect(await ids("t", { before: thread("t", "1f0e7000-0000-6000-8000-000000000000") })).toEqual(all);
});

const thread = (id: string, checkpoint?: string) => ({
  configurable: { thread_id: id, ...(checkpoint !== undefined && { checkpoint_id: checkpoint }) },
});

async function say(id: string, text: string): Promise<void> {
  const agent = createAgent({ model: new ScriptedModel([`answer to ${text}`]), checkpointer: saver });
  await agent.invoke({ messages: [new HumanMessage(text)] }, thread(id));
}

async function messagesAt(id: string, checkpoint?: string): Promise<string[]> {
  const tuple = await saver.getTuple(thread(id, checkpoint));
  const messages = (tuple!.checkpoint.channel_values["messages"] ?? []) as BaseMessage[];
  return messages.map(({ text }) => text);
}

async function ids(id: string, options?: Parameters<SqliteSaver["list"]>[1]): Promise<string[]> {
  const found: string[] = [];
  for await (const { checkpoint } of saver.list(thread(id), options)) found.push(checkpoint.id);
  return found;
}
