import { MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { RemoteGraph } from "@langchain/langgraph/remote";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { collected, serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";

let served: Served;
afterEach(() => served.close());

const nothing = () => ({});

/** A graph in a graph in a graph. */
function nested() {
  const inner = new StateGraph(z.object({ depth: z.number() }))
    .addNode("last", nothing)
    .addEdge(START, "last");
  const middle = new StateGraph(z.object({ count: z.number() }))
    .addNode("inner", inner.compile())
    .addEdge(START, "inner");
  return new StateGraph(
    z.object({ title: z.string().describe("What it is about"), _secret: z.string().optional() }),
  )
    .addNode("middle", middle.compile())
    .addEdge(START, "middle")
    .compile();
}

it("a schema lists the zod types of the state fields that clients may write", async () => {
  served = await serve({ nested: nested() });
  const { state_schema: state } = await served.client.assistants.getSchemas("nested");
  expect(state).toMatchObject({
    type: "object",
    properties: { title: { type: "string", description: "What it is about" } },
    required: ["title"],
  });
  expect(Object.keys(state!.properties!)).toEqual(["title"]);
});

it("a schema has the types of plan and files, and names alone for untyped state", async () => {
  const plain = new StateGraph(MessagesAnnotation).addNode("a", nothing).addEdge(START, "a").compile();
  const dated = new StateGraph(z.object({ at: z.date() }))
    .addNode("a", nothing)
    .addEdge(START, "a")
    .compile();
  served = await serve({ agent: createDeepAgent({ model: new ScriptedModel([]) }), plain, dated });
  const { assistants } = served.client;
  const { output_schema: output } = await assistants.getSchemas("agent");
  expect(output!.properties).toMatchObject({
    todos: { type: "array", items: { type: "object", required: ["id", "content", "status"] } },
    files: { type: "object" },
  });
  expect((await assistants.getSchemas("plain")).state_schema!.properties).toEqual({ messages: {} });
  expect((await assistants.getSchemas("dated")).state_schema!.properties).toEqual({ at: {} });
});

it("the server finds subgraphs by name, and nested subgraphs on request", async () => {
  served = await serve({ nested: nested(), agent: createDeepAgent({ model: new ScriptedModel([]) }) });
  const { assistants } = served.client;
  const names = async (options?: { namespace?: string; recurse?: boolean }) =>
    Object.keys(await assistants.getSubgraphs("nested", options));
  expect(await names()).toEqual(["middle"]);
  expect(await names({ recurse: true })).toEqual(["middle", "middle|inner"]);
  expect(await names({ namespace: "middle" })).toEqual(["middle"]);
  expect(await names({ namespace: "nobody" })).toEqual([]);
  const { middle } = await assistants.getSubgraphs("nested");
  expect(middle!.state_schema!.properties).toMatchObject({ count: { type: "number" } });
  expect(await assistants.getSubgraphs("agent")).toEqual({});
  const remote = new RemoteGraph({ graphId: "nested", url: served.url, apiKey: served.token });
  expect((await collected(remote.getSubgraphsAsync(undefined, true))).map(([name]) => name)).toEqual([
    "middle",
    "middle|inner",
  ]);
});
