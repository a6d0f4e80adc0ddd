import { setImmediate } from "node:timers/promises";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { heapInUse } from "../../../test/helpers/measure/garbage.ts";
import { streamGraph } from "./graph-stream.ts";

type Step = (say: (chunk: unknown) => void) => Promise<void>;

function speaker(step: Step) {
  return new StateGraph(Annotation.Root({ count: Annotation<number> }))
    .addNode("speak", async ({ count }, { writer }) => {
      await step((chunk) => writer?.(chunk));
      return { count: count + 1 };
    })
    .addEdge("__start__", "speak")
    .compile();
}

const OPTIONS = { streamMode: ["values", "updates", "custom"], subgraphs: true };

async function all(chunks: AsyncIterable<unknown>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return found;
}

it("a graph streams what its own stream has", async () => {
  const graph = speaker(async (say) => ["a", "b"].forEach(say));
  const own = await all(await graph.stream({ count: 1 }, OPTIONS as object));
  expect(await all(await streamGraph(graph, { count: 1 }, OPTIONS))).toEqual(own);
  expect(own).toHaveLength(5);
});

it("a graph's own step limit holds, and the limit of a run overrides it", async () => {
  const endless = new StateGraph(Annotation.Root({ count: Annotation<number> }))
    .addNode("add", ({ count }) => ({ count: count + 1 }))
    .addEdge("__start__", "add")
    .addEdge("add", "add")
    .compile()
    .withConfig({ recursionLimit: 3 });
  const stepsOf = async (options: object): Promise<number> => {
    let steps = 0;
    const reading = (async () => {
      for await (const _ of await streamGraph(endless, { count: 0 }, { streamMode: "updates", ...options })) {
        steps += 1;
      }
    })();
    await expect(reading).rejects.toThrow(/Recursion limit/);
    return steps;
  };
  expect(await stepsOf({})).toBe(3);
  expect(await stepsOf({ recursionLimit: 5 })).toBe(5);
});

it("a run is stopped by its signal, and says so", async () => {
  const stop = new AbortController();
  const graph = speaker(async (say) => {
    say("begun");
    await new Promise(() => {});
  });
  const seen: unknown[] = [];
  const reading = (async () => {
    for await (const chunk of await streamGraph(graph, { count: 1 }, { ...OPTIONS, signal: stop.signal })) {
      seen.push(chunk);
      if (seen.length === 2) stop.abort();
    }
  })();
  await expect(reading).rejects.toThrow(/abort/i);
  expect(seen[1]).toEqual([[], "custom", "begun"]);
});

it("a run is stopped at once, also while one of its nodes waits to be tried again", async () => {
  const stop = new AbortController();
  const retryPolicy = { initialInterval: 100_000, jitter: false, logWarning: false };
  const graph = new StateGraph(Annotation.Root({ count: Annotation<number> }))
    .addNode("good", () => ({ count: 1 }))
    .addNode(
      "bad",
      () => {
        throw new Error("not yet");
      },
      { retryPolicy },
    )
    .addEdge("__start__", "good")
    .addEdge("__start__", "bad")
    .compile();
  const options = { streamMode: ["updates"], signal: stop.signal };
  const chunks = (await streamGraph(graph, { count: 0 }, options))[Symbol.asyncIterator]();
  expect((await chunks.next()).value).toEqual(["updates", { good: { count: 1 } }]);
  const rest = chunks.next();
  stop.abort(new Error("enough"));
  await expect(rest).rejects.toThrow("enough");
});

it("a long run keeps no chunk in memory after it was read", async () => {
  const heap: number[] = [];
  const graph = speaker(async (say) => {
    for (let n = 0; n < 20_000; n += 1) {
      say(n);
      await setImmediate();
      if (n === 2000) heap.push(await heapInUse());
    }
    heap.push(await heapInUse());
  });
  let read = 0;
  for await (const _ of await streamGraph(graph, { count: 1 }, OPTIONS)) read += 1;
  expect(read).toBe(20_003);
  // With LangGraph's own stream they are 8 MB.
  expect(heap[1]! - heap[0]!).toBeLessThan(2_000_000);
});
