import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { Annotation, messagesStateReducer, StateGraph } from "@langchain/langgraph";
import type { Checkpoint, CheckpointTuple } from "@langchain/langgraph-checkpoint";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { WorkCounter } from "../../../test/helpers/measure/work-counter.ts";
import type { HistoryOptions } from "../checkpoint/index.ts";
import { sqliteSaver } from "../sqlite.ts";
import { Connection } from "./database/index.ts";
import type { SqliteSaver } from "./saver.ts";

const LONG = 4000;
const SHORT = 40;

let folder: string;
let file: string;
let saver: SqliteSaver;
/** Each has 40 checkpoints, and after them what the tests add. */
let long: Thread;
let middle: Thread;
let short: Thread;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-reading-"));
  file = join(folder, "threads.db");
  saver = await sqliteSaver(file);
  [long, middle, short] = [new Thread(LONG), new Thread(200), new Thread(SHORT)];
  for (const thread of [long, middle, short]) await thread.grow(40);
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => {
  saver.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a thread of 2,000 turns", () => {
  let work: WorkCounter;
  beforeAll(() => void (work = new WorkCounter()));
  afterAll(() => work.end());

  it("takes at most 1.5 times the work of one of 100 turns to put a checkpoint", async () => {
    const ofMiddle = await work.ofAsync(() => middle.grow(1));
    const ofLong = await work.ofAsync(() => long.grow(1));
    // That a message is the same object as before is seen by one comparison, which counts here like any other work.
    expect((ofLong - LONG) / ofMiddle).toBeLessThanOrEqual(1.5);
  });

  it("takes at most twice the work of one of 20 turns to list 20 checkpoints", async () => {
    const ofShort = await work.ofAsync(() => short.list(20));
    const ofLong = await work.ofAsync(() => long.list(20));
    expect(ofLong / ofShort).toBeLessThanOrEqual(2);
  });

  it("takes no more work than one of 20 turns to page through its checkpoints", async () => {
    const ofShort = await work.ofAsync(() => saver.listCheckpoints(short.id));
    const ofLong = await work.ofAsync(() => saver.listCheckpoints(long.id));
    expect(ofLong / ofShort).toBeLessThanOrEqual(1.2);
  });

  it("is read without creating its messages until a caller accesses a message", async () => {
    const listOf = async (): Promise<BaseMessage[]> =>
      (await saver.getTuple(long.config))!.checkpoint.channel_values["messages"] as BaseMessage[];
    const look = async (): Promise<unknown> => (await listOf())[0];
    await look();
    const unseen = await work.ofAsync(listOf);
    // Who reads next what nobody has looked at has them made at once.
    const next = await work.ofAsync(listOf);
    const seen = await work.ofAsync(look);
    expect(unseen / next).toBeLessThanOrEqual(0.5);
    expect(unseen / seen).toBeLessThanOrEqual(0.5);
  });

  it("lets the event loop turn while it is read", async () => {
    // By one that has nothing of it in memory.
    const other = await sqliteSaver(file);
    expect(await turnsDuring(() => other.getTuple(long.config))).toBeGreaterThanOrEqual(LONG / 500);
    other.close();
  });
});

describe("many threads in one process", () => {
  it("are started one by one, with turns of the event loop in between", async () => {
    const threads = Array.from({ length: 50 }, () => new Thread(1));
    for (const thread of threads) await thread.grow(1);
    let now = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const start = async (thread: Thread): Promise<void> => {
      await saver.getTuple(thread.config);
      now += 2;
    };
    expect(await turnsDuring(() => Promise.all(threads.map(start)))).toBeGreaterThanOrEqual(5);
  });
});

/** How often the event loop comes round. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

describe("a list of checkpoints", () => {
  it("has the values of each checkpoint, with long lists read lazily", async () => {
    const thread = new Thread(100);
    await thread.grow(3);
    const listed = await thread.list(3);
    for (const { config, checkpoint, pendingWrites } of listed) {
      const one = (await saver.getTuple(config))!;
      expect({ ...checkpoint.channel_values }).toStrictEqual(one.checkpoint.channel_values);
      expect(pendingWrites).toStrictEqual(one.pendingWrites);
    }
    expect(
      listed.map(({ checkpoint }) => (checkpoint.channel_values["messages"] as unknown[]).length),
    ).toEqual([103, 102, 101]);
  });

  it("can be given other values, as any object can", async () => {
    const thread = new Thread(100);
    await thread.grow(1);
    const [{ checkpoint } = {} as CheckpointTuple] = await thread.list(1);
    checkpoint.channel_values["messages"] = "other";
    expect(checkpoint.channel_values).toMatchObject({ messages: "other" });
  });

  it("is complete, however many pages it takes", async () => {
    const thread = new Thread(1);
    await thread.grow(150);
    expect(await thread.list(Infinity)).toHaveLength(150);
    expect(await thread.list(70)).toHaveLength(70);
  });

  it("is paged without values, newest first, also for another namespace", async () => {
    const thread = new Thread(70);
    await thread.grow(5);
    const all = await thread.list(5);
    const page = await saver.listCheckpoints(thread.id, { limit: 2 });
    const rest = await saver.listCheckpoints(thread.id, { before: page.at(-1)!.seq });
    expect([...page, ...rest].map(({ id, parentId }) => [id, parentId])).toEqual(
      all.map(({ checkpoint, parentConfig }) => [
        checkpoint.id,
        parentConfig?.configurable?.["checkpoint_id"],
      ]),
    );
    expect(page[0]).toMatchObject({
      ns: "",
      createdAt: new Date("2026-01-01"),
      metadata: { source: "loop" },
    });
    expect(await saver.listCheckpoints(thread.id, { ns: "inner" })).toEqual([]);
    expect(await saver.listCheckpoints("nobody")).toEqual([]);
  });
});

describe("a brief history", () => {
  it("has the wanted channels and keys, and reads pages instead of checkpoints", async () => {
    const thread = new Thread(100);
    await thread.grow(100, (step) => ({ plan: { idle: step, words: "word ".repeat(200) }, note: "none" }));
    const statements = [vi.spyOn(Connection.prototype, "all"), vi.spyOn(Connection.prototype, "get")];
    const wanted = { messages: {}, plan: { keys: ["idle"] } };
    const listed = await thread.list(100, { isBrief: true, channels: wanted, omitsWrites: true });
    expect(statements.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(100);
    for (const [at, { checkpoint, pendingWrites }] of listed.entries()) {
      const { messages, ...rest } = checkpoint.channel_values;
      const { length } = messages as BaseMessage[];
      expect(length).toBe(200 - at);
      const last = (messages as BaseMessage[]).slice(-3, length);
      expect(last.map(({ text }) => text.trim().length)).toEqual(
        [length - 2, length - 1, length].map((nth) => (nth > 100 ? 99 : `message ${nth - 1}`.length)),
      );
      expect(rest).toEqual({ plan: { idle: 100 - at } });
      expect(pendingWrites).toEqual([]);
    }
  });
});

describe("each of two readers of a thread", () => {
  it("gets separate messages, and its changes do not reach the store", async () => {
    const thread = new Thread(100);
    await thread.grow(1);
    const read = async (): Promise<BaseMessage[]> => {
      const tuple = await saver.getTuple(thread.config);
      return tuple!.checkpoint.channel_values["messages"] as BaseMessage[];
    };
    const [one, other] = [await read(), await read()];
    one[3]!.content = "changed";
    one.at(-1)!.additional_kwargs["changed"] = true;
    expect(other[3]!.content).toBe("message 3");
    expect(other).toStrictEqual(await read());
    const listed = (await thread.list(1))[0]!.checkpoint.channel_values["messages"] as BaseMessage[];
    expect(listed).toStrictEqual(other);
  });
});

describe("a graph on a newly opened long thread", () => {
  it("continues, and has the history of LangGraph", async () => {
    const State = Annotation.Root({
      messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
    });
    const graph = new StateGraph(State)
      .addNode("answer", ({ messages }) => ({ messages: [new AIMessage(`answer to ${messages.length}`)] }))
      .addEdge("__start__", "answer")
      .compile({ checkpointer: saver });
    const config = { configurable: { thread_id: "graph" } };
    await graph.updateState(config, { messages: messagesOf(300) }, "answer");
    for (let n = 0; n < 3; n++) await graph.invoke({ messages: [new HumanMessage(`question ${n}`)] }, config);
    const lengths: number[] = [];
    for await (const { values } of graph.getStateHistory(config)) lengths.push(values.messages?.length ?? 0);
    expect(lengths).toEqual([306, 305, 304, 304, 303, 302, 302, 301, 300, 300].slice(0, lengths.length));
  });
});

/** A thread of so many messages, written by hand. */
class Thread {
  readonly id: string = crypto.randomUUID();
  config = { configurable: { thread_id: this.id, checkpoint_ns: "" } };
  #messages: BaseMessage[];
  #step = 0;

  constructor(length: number) {
    this.#messages = messagesOf(length);
  }

  async grow(times: number, more: (step: number) => object = () => ({})): Promise<void> {
    for (let n = 0; n < times; n++) {
      this.#step += 1;
      this.#messages = [
        ...this.#messages,
        new AIMessage({ id: crypto.randomUUID(), content: "more ".repeat(20) }),
      ];
      const names = ["messages", "step", ...Object.keys(more(this.#step))];
      const versions = Object.fromEntries(names.map((name) => [name, this.#step]));
      const checkpoint: Checkpoint = {
        v: 4,
        id: String(this.#step).padStart(8, "0"),
        ts: "2026-01-01",
        channel_values: { messages: this.#messages, step: this.#step, ...more(this.#step) },
        channel_versions: versions,
        versions_seen: {},
      };
      const metadata = { source: "loop", step: this.#step, parents: {} } as const;
      this.config = await saver.put(this.config, checkpoint, metadata, checkpoint.channel_versions);
      await saver.putWrites(this.config, [["sent", { args: { messages: this.#messages } }]], "task");
    }
  }

  async list(limit: number, options: HistoryOptions = {}): Promise<CheckpointTuple[]> {
    const found: CheckpointTuple[] = [];
    const { thread_id } = this.config.configurable;
    const tuples = saver.list({ configurable: { thread_id } }, { ...options, limit });
    for await (const tuple of tuples) found.push(tuple);
    return found;
  }
}

function messagesOf(count: number): BaseMessage[] {
  return Array.from(
    { length: count },
    (_, n) => new HumanMessage({ id: `message-${n}`, content: `message ${n}` }),
  );
}
