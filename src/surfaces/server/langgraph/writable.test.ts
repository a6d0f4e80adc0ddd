import { START, StateGraph, StateSchema, UntrackedValue } from "@langchain/langgraph";
import { afterEach, expect, it } from "vitest";
import { z } from "zod";
import { serve, type Served } from "../../../../test/helpers/page/graph-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { makeLeadAgent } from "../../../lead/index.ts";
import { McpServers } from "../../../mcp/index.ts";
import { ScriptedModel } from "../../../testing/index.ts";
import type { GraphSource } from "../graphs.ts";

let served: Served;
afterEach(() => served.close());

const model = () => new ScriptedModel(["Done."], { loop: true });
const ask = (content: string) => ({ messages: [{ type: "human", content }] });
const NOT_THEIRS = {
  title: "Mine",
  threadData: { workspace: "/etc", uploads: "/etc", outputs: "/etc" },
  jumpTo: "end",
  structuredResponse: { price: 0 },
  foundTools: ["rm"],
  _plan: { count: 9 },
};

type Values = Record<string, unknown>;

/** What of the values a client gets into a new thread, by each way that it has. */
async function written(graph: GraphSource, values: Values): Promise<Values[]> {
  served = await serve({ agent: graph });
  const { client } = served;
  const ways: ((thread: string) => Promise<unknown>)[] = [
    (thread) => client.runs.wait(thread, "agent", { input: { ...ask("Hi"), ...values } }),
    (thread) => client.runs.wait(thread, "agent", { command: { update: { ...ask("Hi"), ...values } } }),
    (thread) => client.threads.updateState(thread, { values: { ...ask("Hi"), ...values } }),
  ];
  const found: Values[] = [];
  for (const way of ways) {
    const { thread_id: thread } = await client.threads.create({ graphId: "agent" });
    await way(thread);
    const { values: now } = await client.threads.getState<Values>(thread);
    const own = Object.keys(values).filter(
      (name) => JSON.stringify(now[name]) === JSON.stringify(values[name]),
    );
    found.push(Object.fromEntries(own.map((name) => [name, now[name]])));
  }
  return found;
}

async function inputs(): Promise<string[]> {
  const { input_schema: schema } = await served.client.assistants.getSchemas("agent");
  return Object.keys(schema?.properties ?? {}).toSorted();
}

it("clients cannot write the title, folders or steps of a lead agent", async () => {
  const lead: GraphSource = (config) =>
    makeLeadAgent(
      { ...config, configurable: { ...config.configurable, is_plan_mode: true } },
      { model: model(), mcp: new McpServers({ mcpServers: {} }) },
    );
  expect(await written(lead, NOT_THEIRS)).toEqual([{}, {}, {}]);
  expect(await inputs()).toEqual(["files", "messages", "planRules", "todos"]);
});

it("clients cannot write a deep agent's found tools, steps or structured response", async () => {
  const options = { model: model(), mcp: new McpServers({ mcpServers: {} }) };
  expect(await written(createDeepAgent(options), NOT_THEIRS)).toEqual([{}, {}, {}]);
  await served.close();
  const responseFormat = z.object({ price: z.number() });
  served = await serve({ agent: createDeepAgent({ ...options, responseFormat }) });
  expect(await inputs()).toEqual(["files", "messages", "planRules", "todos"]);
});

it("clients can write a title field that the graph's author defined", async () => {
  const title = z.string().optional();
  const state = new StateSchema({ title, jumpTo: new UntrackedValue(z.string()) });
  const plain = new StateGraph(state).addNode("idle", () => ({})).addEdge(START, "idle");
  const mine = { title: "Mine" };
  expect(await written(plain.compile(), mine)).toEqual([mine, mine, mine]);
  expect(await inputs()).toEqual(["jumpTo", "title"]);
  await served.close();
  const deep = createDeepAgent({ model: model(), stateSchema: new StateSchema({ title }) });
  expect(await written(deep, mine)).toEqual([mine, mine, mine]);
  expect(await inputs()).toEqual(["files", "messages", "planRules", "title", "todos"]);
});
