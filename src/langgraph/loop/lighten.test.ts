import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import {
  Annotation,
  Command,
  getConfig,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  StateGraph,
} from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { isCompiled, lighten } from "./index.ts";

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  path: Annotation<string[]>({ reducer: (left, right) => [...left, ...right], default: () => [] }),
  plain: Annotation<unknown[]>,
});
type StateOf = typeof State.State;

const MODES = ["values", "updates", "custom", "tasks", "messages"] as const;

describe("a graph whose nodes run lightly does what LangGraph's does:", () => {
  it("streams the same, in all modes, with subgraphs, commands, conditions and sends", async () => {
    const [own, light] = await both(async (graph) => all(graph, {}));
    expect(light).toEqual(own);
    expect(own.length).toBeGreaterThan(30);
  });

  it("callbacks receive the same events", async () => {
    const [own, light] = await both(async (graph) => {
      const heard = new Heard();
      await all(graph, { callbacks: [heard.handler] });
      return heard.events;
    });
    expect(light).toEqual(own);
    expect(own.length).toBeGreaterThan(10);
  });

  it("events of the second version are the same", async () => {
    const [own, light] = await both(async (graph) => {
      const seen: object[] = [];
      for await (const { event, name, tags, metadata, data } of graph.streamEvents(START, {
        version: "v2",
        ...CONFIG,
      })) {
        seen.push({ event, name, tags, metadata, data });
      }
      return seen.map(anonymous);
    });
    expect(light).toEqual(own);
    expect(own.length).toBeGreaterThan(20);
  });

  it("a node finds the same configuration", async () => {
    const [own, light] = await both(async (graph, seen) => {
      await all(graph, { tags: ["a"], metadata: { b: 1 } });
      return seen;
    });
    expect(light).toEqual(own);
    expect(own).toHaveLength(2);
  });

  it("asks, continues with the answer and keeps the same checkpoints", async () => {
    const [own, light] = await both(async (graph) => {
      const asking = { ...START, path: ["ask"] };
      const seen = [
        ...(await all(graph, {}, asking)),
        ...(await all(graph, {}, new Command({ resume: "yes" }))),
      ];
      const history: object[] = [];
      for await (const { values, next, metadata } of graph.getStateHistory(CONFIG)) {
        history.push({ values, next, metadata });
      }
      return [...seen, ...history].map(anonymous);
    });
    expect(light).toEqual(own);
    expect(JSON.stringify(own)).toContain("asked: yes");
  });

  it("fails with the same error, and reports the same events", async () => {
    const [own, light] = await both(async (graph) => {
      const heard = new Heard();
      const failing = all(graph, { callbacks: [heard.handler] }, { ...START, path: ["fail"] });
      const error = (await failing.catch((thrown: unknown) => thrown)) as Error;
      return [{ name: error.name, message: error.message }, ...heard.events];
    });
    expect(light).toEqual(own);
    expect(own[0]).toEqual({ name: "Error", message: "broken" });
  });

  it("an update of the state by a node's name is the same", async () => {
    const [own, light] = await both(async (graph) => {
      await all(graph, {});
      await graph.updateState(CONFIG, { path: ["edited"] }, "first");
      const { values, next } = await graph.getState(CONFIG);
      return [anonymous({ values, next })];
    });
    expect(light).toEqual(own);
  });
});

it("a node that fails when its run was stopped already ends nothing else", async () => {
  const failures: unknown[] = [];
  const note = (failure: unknown): void => void failures.push(failure);
  process.on("unhandledRejection", note);
  const stop = new AbortController();
  const graph = new StateGraph(State)
    .addNode("late", async () => {
      stop.abort(new Error("stopped"));
      throw new Error("late");
    })
    .addEdge("__start__", "late")
    .compile();
  lighten(graph);
  await expect(graph.invoke(START, { signal: stop.signal })).rejects.toThrow(/abort|stopped/i);
  await new Promise((resolve) => void setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(failures).toEqual([]);
});

it("to lighten a graph twice changes nothing more", async () => {
  const { graph } = made();
  lighten(graph);
  const nodes = Object.values(graph.nodes).map(({ writers }) => [...writers]);
  lighten(graph);
  expect(Object.values(graph.nodes).map(({ writers }) => [...writers])).toEqual(nodes);
  expect(isCompiled(graph)).toBe(true);
  expect(await all(graph, {})).not.toHaveLength(0);
});

it("only messages of a list that names them get ids before their task is saved", async () => {
  const { graph } = made();
  lighten(graph);
  const message = new AIMessage("kept as it is");
  await graph.invoke({ ...START, plain: [message] }, CONFIG);
  expect(message.id).toBeUndefined();
});

const START = { messages: [new HumanMessage({ content: "Go.", id: "go" })] };
const CONFIG = { configurable: { thread_id: "t", tenant: "one" } };

function made() {
  const seen: object[] = [];
  const look = (where: string, config: object): void => {
    const { configurable = {}, ...others } = config as { configurable?: object };
    seen.push(
      anonymous({
        where,
        keys: Object.keys(configurable).toSorted(),
        others: Object.keys(others).toSorted(),
      }),
    );
  };
  const inner = new StateGraph(State)
    .addNode("inside", () => ({ path: ["inside"] }))
    .addEdge("__start__", "inside")
    .compile();
  const graph = new StateGraph(State)
    .addNode("first", (state, config) => {
      look("argument", config);
      look("context", getConfig());
      config.writer?.({ said: "first" });
      if (state.path[0] === "fail") throw new Error("broken");
      return {
        path: ["first"],
        messages: [new AIMessage({ content: "Hello.", id: "hello" })],
        plain: state.plain,
      };
    })
    .addNode("ask", (state) => {
      if (state.path[0] !== "ask") return {};
      return { path: [`asked: ${String(interrupt("Well?"))}`] };
    })
    .addNode("inner", inner)
    .addNode("sent", ({ path }: StateOf) => ({ path: [`sent ${path[0]!}`] }))
    .addNode("told", () => new Command({ update: { path: ["told"] }, goto: "last" }), { ends: ["last"] })
    .addNode("last", () => ({ path: ["last"] }))
    .addEdge("__start__", "first")
    .addEdge("first", "ask")
    .addEdge("ask", "inner")
    .addConditionalEdges(
      "inner",
      () => [new Send("sent", { path: ["a"] }), new Send("sent", { path: ["b"] }), "told"],
      ["sent", "told"],
    )
    .compile({ checkpointer: new MemorySaver() });
  return { graph, seen };
}

type Graph = ReturnType<typeof made>["graph"];

/** The same work on a graph as LangGraph makes it, and on one that runs lightly. */
async function both(
  work: (graph: Graph, seen: object[]) => Promise<object[]>,
): Promise<[own: object[], light: object[]]> {
  const [own, light] = [made(), made()];
  lighten(light.graph);
  return [await work(own.graph, own.seen), await work(light.graph, light.seen)];
}

async function all(graph: Graph, options: object, input: object = START): Promise<object[]> {
  const chunks: object[] = [];
  const stream = await graph.stream(input, {
    ...CONFIG,
    ...options,
    streamMode: [...MODES],
    subgraphs: true,
  });
  for await (const chunk of stream) chunks.push(anonymous(chunk));
  return chunks;
}

/** What a listener is told of a run, in order; what runs is named by when it began. */
class Heard {
  readonly events: object[] = [];
  readonly #runs = new Map<string, number>();

  readonly handler: Partial<BaseCallbackHandler> = {
    handleChainStart: (serialized, inputs, id, _type, tags, metadata, name, parent) => {
      this.#begin(id, parent, { start: name, of: serialized.id, inputs, tags, metadata });
    },
    handleChainEnd: (outputs, id) => {
      this.events.push(anonymous({ end: this.#runs.get(id), outputs }));
    },
    handleChainError: (error: unknown, id: string) => {
      this.events.push({ failed: this.#runs.get(id), error: String(error) });
    },
  };

  #begin(id: string, parent: string | undefined, what: object): void {
    this.#runs.set(id, this.#runs.size);
    const from = parent === undefined ? undefined : this.#runs.get(parent);
    this.events.push(anonymous({ ...what, from }));
  }
}

/** Without the ids and times that differ from run to run. */
function anonymous(value: object): object {
  const text = JSON.stringify(value)
    .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32}/g, "id")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  return JSON.parse(text) as object;
}
