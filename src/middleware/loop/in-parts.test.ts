import { MemorySaver } from "@langchain/langgraph";
import { createAgent, type AnyAgentMiddleware } from "langchain";
import { expect, it } from "vitest";
import { callTool, ScriptedModel } from "../../testing/index.ts";
import { filesMiddleware } from "../files/index.ts";
import { planMiddleware } from "../plan/index.ts";
import { inParts } from "./in-parts.ts";

const SCRIPT = [
  [
    callTool("write_todos", { todos: ["Write", "Check"] }),
    callTool("write_file", { file_path: "/a", content: "1" }),
  ],
  callTool("update_todos", { done: "1" }),
  "Finished?",
  callTool("update_todos", { done: "2" }),
  "Finished.",
];

it("a middleware in parts has no schema in the part that wraps model calls", () => {
  const parts = inParts(planMiddleware() as AnyAgentMiddleware);
  expect(parts.map(({ name }) => name)).toEqual(["PlanMiddleware.state", "PlanMiddleware"]);
  expect(parts.some(({ stateSchema, wrapModelCall }) => stateSchema && wrapModelCall)).toBe(false);
});

it("a middleware in parts does what it does in one", async () => {
  const run = async (isSplit: boolean): Promise<unknown> => {
    const whole = [planMiddleware({ now: () => 1 }), filesMiddleware()] as AnyAgentMiddleware[];
    const middleware = isSplit ? whole.flatMap((one) => inParts(one)) : whole;
    const model = new ScriptedModel(SCRIPT);
    const agent = createAgent({ model, tools: [], middleware, checkpointer: new MemorySaver() });
    const config = { configurable: { thread_id: "1" } };
    await agent.invoke({ messages: [{ role: "user", content: "Go" }] }, config);
    const { values } = await agent.graph.getState(config);
    const { messages, ...others } = values as { messages: { text: string }[] };
    const requests = model.requests.map((request) => request.messages.map(({ text }) => text));
    return { ...others, _plan: undefined, texts: messages.map(({ text }) => text), requests };
  };
  expect(await run(true)).toEqual(await run(false));
});

it("one with a hook stays in one part, as a hook is given its own fields", () => {
  const approval = planMiddleware({ approval: "first" }) as AnyAgentMiddleware;
  expect(inParts(approval)).toEqual([approval]);
});
