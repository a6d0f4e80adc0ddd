import { AIMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  emptyCheckpoint,
  ERROR,
  INTERRUPT,
  SCHEDULED,
  uuid6,
  type Checkpoint,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import * as fc from "fast-check";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ask, newDatabase } from "../../../../test/helpers/postgres/database.ts";
import { rounds } from "../../../../test/helpers/runner/rounds.ts";
import { checkStore } from "../../care/check.ts";
import { postgresSaver } from "../../postgres.ts";
import { LEASE } from "../../store/thread-store.ts";
import type { PostgresSaver } from "../saver.ts";

let url: string;
beforeAll(async () => void (url = await newDatabase()));

let saver: PostgresSaver;
let schema: string;
let tests = 0;
beforeEach(async () => {
  tests += 1;
  schema = `batch_${tests}`;
  saver = await postgresSaver(url, { schema });
});
afterEach(() => saver.close());

const METADATA = { source: "loop", step: 1, parents: {} } as const;
const THREAD = { configurable: { thread_id: "t" } };

describe("the writes of tasks", () => {
  it("are one statement with the checkpoint after them", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const before = await statements();
    const saved = ["a", "b"].map((task) => saver.putWrites(first, [["count", task]], task));
    await saver.put(first, checkpointOf(2), METADATA, { count: 2 });
    await Promise.all(saved);
    expect((await statements()) - before).toBe(1);
    expect(await writesOf(first)).toEqual(["a count a", "b count b"]);
    expect((await saver.getTuple(THREAD))?.checkpoint.channel_values).toEqual({ count: 2 });
  });

  it("are one statement at the end of the turn without a checkpoint", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const before = await statements();
    await Promise.all(["a", "b", "c"].map((task) => saver.putWrites(first, [["count", task]], task)));
    expect((await statements()) - before).toBe(1);
    expect(await writesOf(first)).toEqual(["a count a", "b count b", "c count c"]);
  });

  it("are saved as they were at the call", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const list = ["one"];
    const saved = saver.putWrites(first, [["list", list]], "a");
    list.push("two");
    await saved;
    expect((await saver.getTuple(first))?.pendingWrites).toEqual([["a", "list", ["one"]]]);
  });

  it("are saved when the saver is closed", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const saved = saver.putWrites(first, [["count", 2]], "a");
    await saver.close();
    await saved;
    saver = await postgresSaver(url, { schema });
    expect(await writesOf(first)).toEqual(["a count 2"]);
  });

  it("keep only the last error, interrupt and answer, also within one statement", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    await Promise.all([
      saver.putWrites(first, [["count", "first"]], "a"),
      saver.putWrites(first, [[ERROR, "first"]], "a"),
      saver.putWrites(first, [["count", "second"]], "a"),
      saver.putWrites(first, [[ERROR, "second"]], "a"),
    ]);
    expect(await writesOf(first)).toEqual([`a ${ERROR} second`, "a count first"]);
  });
});

it.each([
  { source: "loop", begun: 0 },
  { source: "update", begun: 1 },
] as const)(
  "the store keeps $begun notes of started calls after a checkpoint by $source",
  async ({ source, begun }) => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const saved = saver.putWrites(first, [[SCHEDULED, "a"]], "a");
    await saver.put(first, checkpointOf(2), { ...METADATA, source }, { count: 2 });
    await saved;
    const count = `SELECT count(*)::int AS count FROM ${schema}.writes`;
    expect(await ask(url, count)).toEqual([{ count: begun }]);
    expect(await checkStore(url, { schema })).toEqual([]);
  },
);

describe("a write that fails", () => {
  /** Postgres has no text with this character in it, and says so when it is given some. */
  const REFUSED = "a\0b";
  const words = new AIMessage({ id: "1", content: "Long enough for a place of its own. ".repeat(9) });

  it("is the only failure in its statement, and stores nothing", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const saved = await Promise.allSettled([
      saver.putWrites(first, [["words", words]], "a"),
      saver.putWrites(
        first,
        [
          ["words", words],
          [REFUSED, 1],
        ],
        "b",
      ),
      saver.putWrites(first, [["count", 1n]], "c"),
      saver.putWrites(first, [["words", words]], "d"),
      saver.put(first, checkpointOf(2), METADATA, { count: 2 }),
    ]);
    expect(saved.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
      "fulfilled",
    ]);
    expect(saved[1]).toMatchObject({ reason: { code: "storage-failed" } });
    expect(saved[2]).toMatchObject({ reason: { message: expect.stringContaining("BigInt") as string } });
    const { pendingWrites = [] } = (await saver.getTuple(first))!;
    expect(pendingWrites.map(([task, , value]) => [task, (value as AIMessage).text])).toEqual([
      ["a", words.text],
      ["d", words.text],
    ]);
    expect(await checkStore(url, { schema })).toEqual([]);
  });

  it("as a checkpoint does not affect the writes before and after it", async () => {
    const first = await saver.put(THREAD, checkpointOf(1), METADATA, { count: 1 });
    const saved = await Promise.allSettled([
      saver.putWrites(first, [["words", words]], "a"),
      saver.put(first, { ...checkpointOf(2), id: REFUSED }, METADATA, { count: 2 }),
    ]);
    expect(saved.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    const next = { ...checkpointOf(3), channel_values: { words } };
    await saver.put(first, next, METADATA, { words: 1 });
    const other = await postgresSaver(url, { schema });
    expect((await other.getTuple(first))?.pendingWrites?.map(([task]) => task)).toEqual(["a"]);
    const found = (await other.getTuple(THREAD))?.checkpoint.channel_values["words"] as AIMessage;
    expect(found.text).toBe(words.text);
    await other.close();
    expect(await checkStore(url, { schema })).toEqual([]);
  });

  it("fails its whole statement after a takeover of the thread, and stores nothing", async () => {
    const { token } = await saver.acquireThread("t");
    const config = { configurable: { thread_id: "t", [LEASE]: token } };
    const { configurable } = await saver.put(config, checkpointOf(1), METADATA, { count: 1 });
    const held = { configurable: { ...configurable, [LEASE]: token } };
    const other = await postgresSaver(url, { schema });
    const release = await other.acquireThread("t", { force: true });
    const saved = await Promise.allSettled([
      saver.putWrites(held, [["count", 2]], "a"),
      saver.putWrites(held, [["count", 3]], "b"),
      saver.put(held, checkpointOf(2), METADATA, { count: 2 }),
    ]);
    for (const each of saved) expect(each).toMatchObject({ reason: { code: "thread-busy" } });
    expect(await ask(url, `SELECT count(*)::int AS count FROM ${schema}.writes`)).toEqual([{ count: 0 }]);
    expect((await other.getTuple(THREAD))?.checkpoint.channel_values).toEqual({ count: 1 });
    await release();
    await other.close();
  });
});

/** A call: of a namespace, either writes to one of its checkpoints or a checkpoint. */
type Call =
  | { kind: "writes"; ns: string; to: number; task: string; writes: PendingWrite[] }
  | { kind: "put"; ns: string; source: "loop" | "update"; isRepeat: boolean };

const call: fc.Arbitrary<Call> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("writes" as const),
      ns: fc.constantFrom("", "sub"),
      /** How many checkpoints before the one that comes next. */
      to: fc.constantFrom(0, 1, 1, 1, 2, 3),
      task: fc.constantFrom("a", "b"),
      writes: fc.array(fc.tuple(fc.constantFrom("count", "more", SCHEDULED, ERROR, INTERRUPT), fc.nat(9)), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      ns: fc.constantFrom("", "sub"),
      source: fc.constantFrom("loop" as const, "loop" as const, "update" as const),
      isRepeat: fc.constantFrom(false, false, false, true),
    }),
  },
);

it("concurrent writes give the same result as sequential ones", async () => {
  let runs = 0;
  const property = async (calls: readonly Call[]): Promise<void> => {
    runs += 1;
    const [one, all] = [`one ${runs}`, `all ${runs}`];
    const expected = await make(one, calls, (saved) => saved);
    expect(await make(all, calls, async () => {})).toEqual(expected);
    expect(await historyOf(all)).toEqual(await historyOf(one));
  };
  await fc.assert(fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 20 }), property), {
    numRuns: rounds(30),
  });
  expect(await checkStore(url, { schema })).toEqual([]);
});

/** Returns what came of each call. Checkpoints are numbered by namespace, so that both threads have the same. */
async function make(
  threadId: string,
  calls: readonly Call[],
  wait: (saved: Promise<unknown>) => Promise<unknown>,
): Promise<string[]> {
  const at = (ns: string, id: number): RunnableConfig => ({
    configurable: { thread_id: threadId, checkpoint_ns: ns, ...(id > 0 && { checkpoint_id: `${id}` }) },
  });
  const put = (writer: PostgresSaver, ns: string, id: number, source: "loop" | "update") => {
    const checkpoint = { ...checkpointOf(id), id: `${id}`, ts: "" };
    return writer.put(at(ns, id - 1), checkpoint, { ...METADATA, source }, { count: id });
  };
  for (const id of [1, 2, 3]) await put(saver, "", id, "loop");
  // One that has not put them itself may add to those that are not the newest.
  const writer = await postgresSaver(url, { schema });
  const counts = new Map([["", 3]]);
  const saved: Promise<string>[] = [];
  for (const each of calls) {
    const { ns } = each;
    const last = counts.get(ns) ?? 0;
    let made: Promise<unknown>;
    if (each.kind === "put") {
      const id = each.isRepeat && last > 0 ? last : last + 1;
      counts.set(ns, id);
      made = put(writer, ns, id, each.source);
    } else {
      const to = Math.max(1, last + 1 - each.to);
      made = writer.putWrites(at(ns, to), each.writes, each.task);
    }
    saved.push(
      made.then(
        () => "saved",
        (error: { code: string }) => error.code,
      ),
    );
    await wait(saved.at(-1)!);
  }
  const results = await Promise.all(saved);
  await writer.close();
  return results;
}

async function historyOf(threadId: string): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: threadId } })) {
    const { checkpoint_ns: ns } = tuple.config.configurable!;
    found.push({ ...tuple, ns: ns as unknown, config: undefined, parentConfig: undefined });
  }
  return found;
}

/** How many statements have changed the thread. */
async function statements(): Promise<number> {
  const [row] = await ask(url, `SELECT revision::int AS revision FROM ${schema}.threads WHERE id = 't'`);
  return row!["revision"] as number;
}

async function writesOf(config: RunnableConfig): Promise<string[]> {
  const { pendingWrites = [] } = (await saver.getTuple(config))!;
  return pendingWrites.map(([task, channel, value]) => `${task} ${channel} ${String(value)}`);
}

function checkpointOf(count: number): Checkpoint {
  return {
    ...emptyCheckpoint(),
    id: uuid6(count),
    channel_values: { count },
    channel_versions: { count },
  };
}
