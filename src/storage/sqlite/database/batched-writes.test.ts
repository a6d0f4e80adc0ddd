import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { emptyCheckpoint, uuid6, type Checkpoint } from "@langchain/langgraph-checkpoint";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqliteSaver } from "../../sqlite.ts";
import { LEASE } from "../../store/thread-store.ts";
import type { SqliteSaver } from "../saver.ts";
import { BatchedWrites } from "./batched-writes.ts";
import { Connection } from "./connection.ts";

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-together-"));
  file = join(folder, "threads.db");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("the writes of one turn are one transaction, and in the file when they resolve", async () => {
  const [connection, other] = [await Connection.open(file), await Connection.open(file)];
  const count = (): unknown => other.get("SELECT count(*) AS count FROM store.words")?.["count"];
  connection.exec("PRAGMA store.journal_mode = WAL; CREATE TABLE store.words (word TEXT)");
  const batchedWrites = new BatchedWrites(connection, () => {});
  const write = (word: string) => () => connection.run("INSERT INTO words VALUES (?)", [word]).changes;
  const saved = [batchedWrites.add(write("one")), batchedWrites.add(write("two")), batchedWrites.add(count)];
  expect(count()).toBe(0);
  // Others see nothing of it before all of it is done.
  expect(await Promise.all(saved)).toEqual([1, 1, 0]);
  expect(count()).toBe(2);
  for (const each of [connection, other]) each.close();
});

it("a save of a run is in the file when it resolves", async () => {
  const [saver, other] = [await sqliteSaver(file), await sqliteSaver(file)];
  const places = await Promise.all(["a", "b", "c"].map((thread) => held(saver, thread)));
  await Promise.all(places.map((config, at) => saver.put(config, checkpointOf(at), METADATA, {})));
  for (const [at, config] of places.entries()) {
    expect((await other.getTuple(config))?.checkpoint.channel_values).toEqual({ count: at });
  }
  for (const each of [saver, other]) each.close();
});

it.each(["loop", "fork"] as const)(
  "a checkpoint (%s) is saved as handed over, despite later changes of its values",
  async (source) => {
    const saver = await sqliteSaver(file);
    const config = await held(saver, "a");
    const [list, map, unnamed, kept] = [["a"], new Map([["a", 1]]), { list: ["a"] }, ["a"]];
    const values = { list, map, unnamed, kept };
    const versions = { list: 1, map: 1, kept: 1 };
    const first = { ...checkpointOf(1), channel_values: { kept }, channel_versions: { kept: 1 } };
    const next = await saver.put(config, first, METADATA, { kept: 1 });
    const place = { configurable: { ...config.configurable, ...next.configurable } };
    const checkpoint = { ...checkpointOf(2), channel_values: values, channel_versions: versions };
    const saved = saver.put(place, checkpoint, { ...METADATA, source }, { list: 1, map: 1 });
    for (const each of [list, unnamed.list, kept]) each.push("b");
    map.set("b", 2);
    await saved;
    expect((await saver.getTuple(config))?.checkpoint.channel_values).toEqual({
      list: ["a"],
      map: new Map([["a", 1]]),
      unnamed: { list: ["a"] },
      kept: ["a"],
    });
    saver.close();
  },
);

it("a failed write does not affect the others, and stores nothing", async () => {
  const saver = await sqliteSaver(file);
  const places = await Promise.all(["a", "bad", "c"].map((thread) => held(saver, thread)));
  const words = new AIMessage({
    id: "1",
    content: "A message that is long enough for a place of its own. ".repeat(9),
  });
  const values = [{ words }, { words, count: 1n }, { words }];
  const saved = await Promise.allSettled(
    places.map((config, at) =>
      saver.put(config, { ...checkpointOf(at), channel_values: values[at]! }, METADATA, {
        words: 1,
        count: 1,
      }),
    ),
  );
  expect(saved.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  const found = await Promise.all(places.map((config) => saver.getTuple(config)));
  expect(
    found.map((tuple) => (tuple?.checkpoint.channel_values["words"] as AIMessage | undefined)?.text),
  ).toEqual([words.text, undefined, words.text]);
  saver.close();
});

it("a read sees all earlier writes, awaited or not", async () => {
  const saver = await sqliteSaver(file);
  const config = await held(saver, "a");
  const checkpoint = checkpointOf(1);
  const put = saver.put(config, checkpoint, METADATA, {});
  const place = { configurable: { ...config.configurable, checkpoint_ns: "", checkpoint_id: checkpoint.id } };
  const writes = saver.putWrites(place, [["count", 2]], "task");
  expect((await saver.getTuple(config))?.pendingWrites).toEqual([["task", "count", 2]]);
  await Promise.all([put, writes]);
  saver.close();
});

const ASKED: Record<string, (saver: SqliteSaver) => Promise<unknown>> = {
  list: async (saver) => (await saver.list({ configurable: { thread_id: "a" } }).next()).value?.pendingWrites,
  getThread: async (saver) => (await saver.getThread("a"))?.createdAt,
  listThreads: async (saver) => (await saver.listThreads())[0]?.createdAt,
  threadsAtWork: async (saver) => (await saver.threadsAtWork()).get("a"),
  mailbox: (saver) => saver.mailbox("a"),
  listCheckpoints: async (saver) => (await saver.listCheckpoints("a"))[0],
  getValues: async (saver) => (await saver.getValues("a", ["count"]))["count"],
};

it.each(Object.keys(ASKED))("%s sees all writes issued before, including those not awaited", async (name) => {
  const saver = await sqliteSaver(file);
  const config = await held(saver, "a");
  const checkpoint = { ...checkpointOf(1), channel_values: { count: 1, list: ["last"] } };
  const place = { configurable: { ...config.configurable, checkpoint_id: checkpoint.id } };
  const saved = [
    saver.put(config, checkpoint, METADATA, { count: 1, list: 1 }),
    saver.putWrites(place, [["count", 2]], "task"),
  ];
  expect(await ASKED[name]!(saver)).toBeDefined();
  await Promise.all(saved);
  saver.close();
});

it("a save without a lease is in the file when the call returns, after earlier saves", async () => {
  const saver = await sqliteSaver(file);
  const config = await held(saver, "a");
  const first = saver.put(config, checkpointOf(1), METADATA, {});
  const second = saver.put({ configurable: { thread_id: "b" } }, checkpointOf(2), METADATA, {});
  const other = await Connection.open(file);
  expect(other.all("SELECT id FROM threads ORDER BY key").map(({ id }) => id)).toEqual(["a", "b"]);
  other.close();
  await Promise.all([first, second]);
  saver.close();
});

it("a file that cannot be written to fails each queued write once", async () => {
  const connection = await Connection.open(join(folder, "other.db"));
  let undone = 0;
  const batchedWrites = new BatchedWrites(connection, () => {
    undone += 1;
  });
  connection.close();
  const saved = await Promise.allSettled([batchedWrites.add(() => 1), batchedWrites.add(() => 2)]);
  expect(saved.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(undone).toBe(1);
});

it("a closed saver has saved all writes", async () => {
  const saver = await sqliteSaver(file);
  const config = await held(saver, "a");
  const saved = saver.put(config, checkpointOf(7), METADATA, {});
  saver.close();
  await saved;
  const again = await sqliteSaver(file);
  expect((await again.getTuple(config))?.checkpoint.channel_values).toEqual({ count: 7 });
  again.close();
});

const METADATA = { source: "loop", step: 1, parents: {} } as const;

function checkpointOf(count: number): Checkpoint {
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values: { count } };
}

/** The config of a run that holds its thread. */
async function held(saver: SqliteSaver, thread: string): Promise<RunnableConfig> {
  const { token } = await saver.acquireThread(thread);
  return { configurable: { thread_id: thread, [LEASE]: token } };
}
