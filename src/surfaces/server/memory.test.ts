import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { setImmediate } from "node:timers/promises";
import { Annotation, InMemoryStore, StateGraph } from "@langchain/langgraph";
import { Hono } from "hono";
import { expect, it } from "vitest";
import { collectGarbage, heapInUse } from "../../../test/helpers/measure/garbage.ts";
import { sqliteSaver } from "../../storage/index.ts";
import { RunHost } from "../../threads/host/host.ts";
import { hostedGraph } from "./graphs.ts";
import type { ServerEnv } from "./http/context.ts";
import { Streams } from "./http/streams.ts";
import { listen } from "./listen.ts";

const graph = new StateGraph(Annotation.Root({ count: Annotation<number> }))
  .addNode("add", ({ count }) => ({ count: count + 1 }))
  .addEdge("__start__", "add")
  .compile();

it("the server frees a run's output after a hundred other runs have ended", async () => {
  const checkpointer = await sqliteSaver(":memory:");
  const store = new InMemoryStore();
  const graphs = new Map([["graph", hostedGraph("graph", graph, { checkpointer, store })]]);
  const host = new RunHost({ graphs, checkpointer, ledger: checkpointer.ledger });
  const run = async (thread: string): Promise<WeakRef<object>> => {
    const started = await host.start(thread, { graph: "graph", input: { count: 1 }, configurable: {} });
    await started.done;
    return new WeakRef(started);
  };
  const first = await run("first");
  expect(first.deref()).toBeDefined();
  for (let n = 0; n < 100; n += 1) await run(`thread-${n}`);
  await collectGarbage();
  expect(first.deref()).toBeUndefined();
  await host.stop();
  checkpointer.close();
});

it("the server keeps no event that it has sent, even while the stream stays open", async () => {
  const heap: number[] = [];
  const streams = new Streams();
  const app = new Hono<ServerEnv>().get("/", (c) =>
    streams.open(c, async (stream) => {
      for (let n = 0; n < 20_000; n += 1) {
        await stream.send([{ id: n, event: "n", data: String(n) }]);
        await setImmediate();
        if (n === 2000) heap.push(await heapInUse());
      }
      heap.push(await heapInUse());
    }),
  );
  const server = { fetch: app.fetch, close: async () => {} };
  const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
  const [response] = (await once(get(url), "response")) as [IncomingMessage];
  let text = "";
  // The last event may be followed by signs of life.
  for await (const piece of response.setEncoding("utf8")) text = (text + String(piece)).slice(-200);
  expect(text).toContain("id: 19999");
  // With a stream of the platform they are 8 MB.
  expect(heap[1]! - heap[0]!).toBeLessThan(2_000_000);
  await close();
});
