import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  StateGraph,
  StateSchema,
  type BaseCheckpointSaver,
} from "@langchain/langgraph";
import { createAgent, createMiddleware, tool } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { STORES, type StorePlace } from "../../test/helpers/postgres/stores.ts";
import { planMiddleware } from "../middleware/plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { sqliteSaver } from "./sqlite.ts";
import { Connection } from "./sqlite/database/connection.ts";
import type { ThreadStore } from "./store/thread-store.ts";

let place: StorePlace;
let saver: ThreadStore;

const PLAN: Step[] = [
  callTool("write_todos", { todos: ["read", "build"] }),
  callTool("update_todos", { done: "1: by hand" }),
  callTool("update_todos", { done: "2: by hand" }),
  "finished",
];
const go = (text = "go") => ({ messages: [new HumanMessage({ id: text, content: text })] });
const thread = (id: string) => ({ configurable: { thread_id: id } });

describe.each(STORES)("in $name,", ({ create }) => {
  beforeEach(async () => {
    place = await create();
    saver = await place.open();
  });
  afterEach(async () => {
    await saver.close();
    place.remove();
  });

  it("lists the threads among some ids, last used first, and no others", async () => {
    for (const id of ["a", "b", "c"]) await agentOf(["Done."]).invoke(go(), thread(id));
    for (const id of ["a", "d"])
      await saver.ledger.changeThread(id, () => ({
        id,
        graph: "g",
        createdAt: 1,
        updatedAt: 1,
        hasFailed: false,
        metadata: {},
      }));
    const ids = ["a", "c", "c", "nobody", "a\ud800", "a\0", "' OR 1", "d"];
    expect((await saver.listThreads({ ids })).map(({ id }) => id)).toEqual(["c", "a"]);
    expect((await saver.listThreads({ ids, limit: 1 })).map(({ id }) => id)).toEqual(["c"]);
    expect(await saver.listThreads({ ids: [] })).toEqual([]);
    const hosted = await saver.ledger.threads(ids);
    expect(hosted.map(({ id }) => id).toSorted()).toEqual(["a", "d"]);
  });

  it.each(["a\ud800", "a\0"])("a name that a database would change is refused: %j", async (id) => {
    const namesake = id.replace(/.$/s, "\ufffd");
    await agentOf(["Done."]).invoke(go(), thread(namesake));
    const hosted = { graph: "g", createdAt: 1, updatedAt: 1, hasFailed: false, metadata: {} };
    const run = {
      thread: id,
      status: "pending" as const,
      createdAt: 1,
      updatedAt: 1,
      attempt: 0,
      request: {},
    };
    const uses = [
      () => agentOf(["Done."]).invoke(go(), thread(id)),
      () => saver.getTuple(thread(id)),
      () => gather(saver.list(thread(id))),
      () => saver.getThread(id),
      () => saver.getValues(id, ["messages"]),
      () => saver.listCheckpoints(id),
      () => saver.acquireThread(id),
      () => saver.mailbox(id),
      () => saver.deleteThread(id),
      () => saver.ledger.thread(id),
      () => saver.ledger.changeThread(id, () => ({ id, ...hosted })),
      () => saver.ledger.putRun({ id: "r", ...run }),
      () => saver.ledger.runs(id),
    ];
    for (const use of uses) {
      await expect(use(), use.toString()).rejects.toMatchObject({ code: "invalid-request" });
    }
    expect((await saver.listThreads()).map((each) => each.id)).toEqual([namesake]);
    expect(await saver.ledger.threads()).toEqual([]);
  });

  describe("the list of threads", () => {
    it("shows title, progress and state, last used first", async () => {
      await agentOf(PLAN).invoke(go(), thread("finished"));
      const cancel = callTool("update_todos", { cancel: "2" });
      await agentOf([...PLAN.slice(0, 2), cancel, "finished"]).invoke(go(), thread("cancelled"));
      const broken = agentOf([...PLAN.slice(0, 2), new Error("the power goes out")]);
      await expect(broken.invoke(go(), thread("broken"))).rejects.toThrow("the power goes out");
      const asking = agentOf([callTool("ask")]);
      await asking.invoke(go(), thread("asking"));
      await asking.graph.updateState(thread("asking"), { title: "A question" });

      const threads = await saver.listThreads();
      expect(threads.map(({ id, state, todos }) => [id, state, todos.done, todos.total])).toEqual([
        ["asking", "idle", 0, 0],
        ["broken", "idle", 1, 2],
        ["cancelled", "done", 1, 1],
        ["finished", "done", 2, 2],
      ]);
      expect(threads[0]!.title).toBe("A question");
      expect(threads[1]).not.toHaveProperty("title");
      expect(threads[2]!.createdAt.getTime()).toBeLessThanOrEqual(threads[2]!.updatedAt.getTime());
      expect(await saver.listThreads({ limit: 1 })).toEqual([threads[0]]);
    });

    it("distinguishes a thread that waits for an answer from an answered thread", async () => {
      const agent = agentOf([callTool("ask"), "thanks"]);
      await agent.invoke(go(), thread("t"));
      expect((await saver.getThread("t"))?.state).toBe("interrupted");
      const release = await saver.acquireThread("t");
      expect((await saver.getThread("t"))?.state).toBe("running");
      const state = await agent.invoke(new Command({ resume: "blue" }), thread("t"));
      await release();
      expect(state.messages.map(({ text }) => text)).toEqual(["go", "", "blue", "thanks"]);
      expect((await saver.getThread("t"))?.state).toBe("done");
      expect(await saver.getThread("unknown")).toBeUndefined();
    });
  });

  describe("a deleted thread", () => {
    it("is gone, and the others are intact", async () => {
      await agentOf(PLAN).invoke(go(), thread("kept"));
      const kept = await contents(saver, "kept");
      for (let at = 0; at < 5; at++)
        await agentOf(PLAN).invoke(go("long ".repeat(20_000) + at), thread(`t${at}`));
      for (let at = 0; at < 5; at++) await saver.deleteThread(`t${at}`);
      expect((await saver.listThreads()).map(({ id }) => id)).toEqual(["kept"]);
      expect(await contents(saver, "kept")).toEqual(kept);
    });

    it("can be started again with the same messages", async () => {
      const message = new HumanMessage({ id: "1", content: "the same ".repeat(100) });
      for (let time = 0; time < 2; time++) {
        await agentOf(["ok"]).invoke({ messages: [message] }, thread("t"));
        const [first] = (await contents(saver, "t"))[0]!.messages;
        expect(first).toBe(message.text);
        await saver.deleteThread("t");
      }
      await saver.deleteThread("never there");
    });
  });

  describe("the history of a thread", () => {
    it("is the same as with LangGraph's own saver", async () => {
      const memory = new MemorySaver();
      await agentOf(PLAN).invoke(go(), thread("t"));
      await agentOf(PLAN, memory).invoke(go(), thread("t"));
      expect(await contents(saver, "t")).toEqual(await contents(memory, "t"));
    });

    it.each([
      ["ours", () => saver],
      ["LangGraph's", () => new MemorySaver()],
    ])("can be forked at any point and continues from there (%s)", async (_, make) => {
      const checkpointer = make();
      await agentOf(PLAN, checkpointer).invoke(go(), thread("t"));
      const main = await contents(checkpointer, "t");
      const { graph } = agentOf(["another end", "another end", "another end"], checkpointer);
      const history = await gather(graph.getStateHistory(thread("t")));
      const fork = history.find(
        ({ values }) => (values as { messages: BaseMessage[] }).messages.length === 3,
      )!;
      await graph.invoke(null, fork.config);
      const ends = await contents(checkpointer, "t");
      expect(ends.slice(-main.length)).toEqual(main);
      expect(ends[0]!.messages.at(-1)).toBe("another end");
      // Two answers were sent back before it, and stay.
      expect(ends[0]!.messages).toHaveLength(8);
      expect(ends[0]!.todos).toEqual(["in_progress", "pending"]);

      const copy = await graph.updateState(fork.config, null, "__copy__");
      const copied = await graph.getState(copy);
      expect(textsOf(copied.values)).toEqual(textsOf(fork.values));
      expect(copied.next).toEqual(fork.next);
    });

    it.each([
      ["ours", () => saver],
      ["LangGraph's", () => new MemorySaver()],
    ])("includes the state of graphs inside the graph when it is forked (%s)", async (_, make) => {
      const visits = Annotation.Root({
        visits: Annotation<number[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      });
      const inner = new StateGraph(visits)
        .addNode("visit", (state) => ({ visits: [state.visits.length] }))
        .addEdge("__start__", "visit")
        .compile({ checkpointer: true });
      const outer = new StateGraph(Annotation.Root({ asked: Annotation<number>, seen: Annotation<number> }))
        .addNode("inner", async () => ({ seen: (await inner.invoke({ visits: [-1] })).visits.length }))
        .addEdge("__start__", "inner")
        .compile({ checkpointer: make() });
      for (const asked of [1, 2, 3]) await outer.invoke({ asked }, thread("t"));
      const history = await gather(outer.getStateHistory(thread("t")));
      const before = (asked: number) =>
        history.find(
          ({ values, next }) => next[0] === "inner" && (values as { asked: number }).asked === asked,
        )!;
      expect(await outer.invoke(null, before(3).config)).toMatchObject({ seen: 6 });
      expect(await outer.invoke(null, before(2).config)).toMatchObject({ seen: 4 });
    });

    it("can be read in parts", async () => {
      await agentOf(PLAN).invoke(go(), thread("t"));
      const all = await gather(saver.list(thread("t")));
      const before = all[2]!.config;
      const part = await gather(saver.list(thread("t"), { before, limit: 2, filter: { source: "loop" } }));
      expect(part).toEqual(all.slice(3, 5));
      expect(await gather(saver.list(before))).toEqual([all[2]]);
      expect(await gather(saver.list(thread("t"), { limit: 0 }))).toEqual([]);
    });
  });
});

it("the bytes of a deleted thread are freed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-threads-"));
  const file = join(folder, "threads.db");
  saver = await sqliteSaver(file);
  await agentOf(PLAN).invoke(go(), thread("kept"));
  for (let at = 0; at < 5; at++)
    await agentOf(PLAN).invoke(go("long ".repeat(20_000) + at), thread(`t${at}`));
  for (let at = 0; at < 5; at++) await saver.deleteThread(`t${at}`);
  const connection = await Connection.open(file);
  const owners = connection.all("SELECT DISTINCT thread FROM blobs UNION SELECT DISTINCT thread FROM writes");
  expect(owners).toHaveLength(1);
  connection.close();
  await saver.close();
  expect(statSync(file).size).toBeLessThan(200_000);
  rmSync(folder, { recursive: true, force: true });
});

function agentOf(steps: Step[], checkpointer: BaseCheckpointSaver = saver) {
  const ask = tool(() => String(interrupt("Which colour?")), {
    name: "ask",
    description: "ask",
    schema: z.object({}),
  });
  const titled = createMiddleware({
    name: "Titled",
    stateSchema: new StateSchema({ title: z.string().optional() }),
  });
  return createAgent({
    model: new ScriptedModel(steps),
    tools: [ask],
    middleware: [planMiddleware(), titled],
    checkpointer,
  });
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const gathered: T[] = [];
  for await (const item of items) gathered.push(item);
  return gathered;
}

interface Contents {
  step: number;
  messages: string[];
  todos: string[];
}

/** What a person would compare of every checkpoint, newest first. */
async function contents(of: BaseCheckpointSaver, id: string): Promise<Contents[]> {
  const tuples = await gather(of.list(thread(id)));
  return tuples.map(({ checkpoint, metadata }) => ({
    step: metadata!.step,
    messages: textsOf(checkpoint.channel_values),
    todos: ((checkpoint.channel_values["todos"] ?? []) as { status: string }[]).map(({ status }) => status),
  }));
}

function textsOf(values: unknown): string[] {
  return ((values as { messages?: BaseMessage[] }).messages ?? []).map(({ text }) => text);
}
