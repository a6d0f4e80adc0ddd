import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Annotation, InMemoryStore, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { sqliteSaver } from "../../storage/index.ts";
import { hostedGraph } from "./graphs.ts";
import { assemble } from "./server.ts";

const graph = new StateGraph(Annotation.Root({ count: Annotation<number> }))
  .addNode("add", ({ count }) => ({ count: count + 1 }))
  .addEdge("__start__", "add")
  .compile();

it("what a run said is given up when a hundred others have ended", async () => {
  const checkpointer = await sqliteSaver(":memory:");
  const store = new InMemoryStore();
  const graphs = new Map([["graph", hostedGraph("graph", graph, { checkpointer, store })]]);
  const { server, parts } = await assemble({ graphs, checkpointer, store });
  const run = async (thread: string): Promise<WeakRef<object>> => {
    const started = await parts.host.start(thread, { graph: "graph", input: { count: 1 }, configurable: {} });
    await started.done;
    return new WeakRef(started);
  };
  const first = await run("first");
  expect(first.deref()).toBeDefined();
  for (let n = 0; n < 100; n += 1) await run(`thread-${n}`);
  await collectGarbage();
  expect(first.deref()).toBeUndefined();
  await server.close();
  checkpointer.close();
});

async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose_gc");
  const collect = runInNewContext("gc") as () => void;
  for (let time = 0; time < 4; time += 1) {
    await setImmediate();
    collect();
  }
}
