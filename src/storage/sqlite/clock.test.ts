import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ScriptedModel } from "../../testing/index.ts";
import { sqliteSaver } from "../sqlite.ts";
import { Connection } from "./database/connection.ts";
import { SCHEMA_VERSION } from "./file/schema.ts";
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

  it("the thread that was used last is listed first", async () => {
    await say("new", "first");
    expect((await saver.listThreads()).map(({ id }) => id)).toEqual(["new", "t", "old"]);
  });
});

it("all checkpoints come before one that is not stored", async () => {
  await say("t", "first");
  const all = await ids("t");
  expect(await ids("t", { before: thread("t", "1f0e7000-0000-6000-8000-000000000000") })).toEqual(all);
});

describe("a file of the first format, which was ordered by the clock,", () => {
  beforeEach(async () => {
    await say("a", "first");
    await say("b", "first");
    await say("a", "second");
  });

  it("keeps its threads and their histories, and continues in order", async () => {
    const before = { a: await ids("a"), b: await ids("b"), threads: await saver.listThreads() };
    await reopenAsFirstFormat();
    expect({ a: await ids("a"), b: await ids("b"), threads: await saver.listThreads() }).toEqual(before);
    vi.setSystemTime(NOON - HOUR);
    await say("b", "second");
    expect(await messagesAt("b")).toEqual(["first", "answer to first", "second", "answer to second"]);
    expect((await saver.listThreads()).map(({ id }) => id)).toEqual(["b", "a"]);
  });

  it("with a damaged message is refused, and stays the same", async () => {
    await toFirstFormat();
    const connection = await Connection.open(file);
    connection.exec("UPDATE blobs SET body = 'x' WHERE id = 1");
    connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
    connection.close();
    const before = readFileSync(file);
    await expect(sqliteSaver(file)).rejects.toMatchObject({ code: "storage-corrupt" });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("can be opened by several processes at once", async () => {
    const before = await ids("a");
    await toFirstFormat();
    const savers = await Promise.all(Array.from({ length: 4 }, () => sqliteSaver(file)));
    saver = savers[0]!;
    expect(await ids("a")).toEqual(before);
    for (const each of savers.slice(1)) each.close();
    const connection = await Connection.open(file);
    expect(connection.get("PRAGMA store.user_version")).toMatchObject({ user_version: SCHEMA_VERSION });
    connection.close();
  });
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

async function reopenAsFirstFormat(): Promise<void> {
  await toFirstFormat();
  saver = await sqliteSaver(file);
}

/** Closes the file and puts its tables as format 1 had them. */
async function toFirstFormat(): Promise<void> {
  saver.close();
  const connection = await Connection.open(file);
  connection.exec(`
    CREATE TABLE store.earlier (
      thread INTEGER NOT NULL, ns TEXT NOT NULL, id TEXT NOT NULL, parent TEXT,
      head TEXT NOT NULL, channels TEXT NOT NULL, metadata TEXT NOT NULL,
      PRIMARY KEY (thread, ns, id)
    ) WITHOUT ROWID;
    INSERT INTO earlier SELECT thread, ns, id, parent, head, channels, metadata FROM checkpoints;
    DROP TABLE checkpoints;
    ALTER TABLE earlier RENAME TO checkpoints;
    CREATE INDEX IF NOT EXISTS store.threads_updated ON threads (updated);
    DROP TABLE heads;
    DROP TABLE hosted;
    DROP TABLE runs;
    DROP TABLE edits;
    DROP TABLE items;
    DROP TABLE schedules;
    ALTER TABLE threads DROP COLUMN seq;
    ALTER TABLE threads DROP COLUMN interrupted;
    ALTER TABLE threads DROP COLUMN seal;
    ALTER TABLE blobs DROP COLUMN seal;
    ALTER TABLE writes DROP COLUMN seal;
    ALTER TABLE leases DROP COLUMN seal;
    PRAGMA store.user_version = 1;`);
  connection.close();
}
