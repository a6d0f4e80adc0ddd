import { HumanMessage } from "@langchain/core/messages";
import { MemorySaver, ReducedValue, StateSchema } from "@langchain/langgraph";
import {
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
  getUpdateTypeSchema,
} from "@langchain/langgraph/zod/schema";
import { createAgent, createMiddleware, tool, type AnyAgentMiddleware } from "langchain";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { filesMiddleware } from "../middleware/files/index.ts";
import { planMiddleware } from "../middleware/plan/index.ts";
import { anyUpdate } from "../middleware/state/fields.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import { unparsedState } from "./unparsed-state.ts";

const CONFIG = { configurable: { thread_id: "t" }, recursionLimit: 200 };

function fields() {
  return {
    plain: z.string().default("as ever"),
    needed: z.number(),
    _private: z.string().optional(),
    list: new ReducedValue(z.array(z.string()).default([]), {
      // LangChain parses the value by it, too.
      inputSchema: anyUpdate<string>(),
      reducer: (all, one) => (one === undefined ? all : [...all, one]),
    }),
  };
}

const SCHEMAS = [
  { name: "LangGraph's", make: () => new StateSchema(fields()) },
  { name: "ours", make: () => unparsedState(new StateSchema(fields())) },
];

function agentWith(stateSchema: StateSchema<ReturnType<typeof fields>>) {
  const seen: unknown[] = [];
  const watched = createMiddleware({
    name: "Watched",
    stateSchema,
    wrapModelCall: (request, handler) => {
      const { messages, ...state } = request.state as { messages: { text: string }[] };
      seen.push({ ...state, messages: messages.length });
      return handler(request);
    },
    beforeModel: (state) => {
      const { messages, ...own } = state as { messages: unknown[] };
      seen.push({ before: own, messages: messages.length });
      return { list: `turn ${messages.length}`, _private: "kept" };
    },
  }) as AnyAgentMiddleware;
  const other = createMiddleware({
    name: "Other",
    stateSchema: new StateSchema({ others: z.string().default("not for you") }),
  }) as AnyAgentMiddleware;
  const agent = createAgent({
    model: new ScriptedModel([callTool("work", { n: 0 }), "Done."]),
    tools: [tool(() => "ok", { name: "work", description: "Works.", schema: z.object({ n: z.number() }) })],
    middleware: [watched, other],
    checkpointer: new MemorySaver(),
  });
  return { agent, seen };
}

describe("an unparsed schema", () => {
  it("gives an agent the same state, and a hook the same part of the state", async () => {
    const told = [];
    for (const { make } of SCHEMAS) {
      const { agent, seen } = agentWith(make());
      const input = { messages: [new HumanMessage("Go.")], needed: 3, list: "given" } as never;
      const { messages, ...values } = (await agent.invoke(input, CONFIG)) as { messages: unknown[] };
      const { values: saved } = await agent.graph.getState(CONFIG);
      told.push({ seen, values, count: messages.length, saved: Object.keys(saved as object).toSorted() });
    }
    expect(told[1]).toEqual(told[0]);
    expect(told[1]!.seen).toHaveLength(4);
  });

  it("reports a missing value with the same error", async () => {
    const errors = [];
    for (const { make } of SCHEMAS) {
      const failing = agentWith(make()).agent.invoke({ messages: [new HumanMessage("Go.")] }, CONFIG);
      errors.push(await failing.catch((error: Error) => error.message));
    }
    expect(errors[1]).toBe(errors[0]);
    expect(errors[1]).toContain("needed");
  });

  it("is described the same", () => {
    const [theirs, ours] = SCHEMAS.map(({ make }) => agentWith(make()).agent.graph);
    for (const of of [getInputTypeSchema, getOutputTypeSchema, getStateTypeSchema, getUpdateTypeSchema]) {
      expect(of(ours!)).toEqual(of(theirs!));
    }
  });
});

it.each([
  { name: "plan", middleware: () => planMiddleware() as AnyAgentMiddleware },
  { name: "files", middleware: () => filesMiddleware() as AnyAgentMiddleware },
])("no schema is compiled per model call with the $name middleware", async ({ middleware }) => {
  const compiled = vi.spyOn(globalThis, "Function");
  const counts = [];
  for (const turns of [3, 30]) {
    const work = Array.from({ length: turns }, (_, n) => callTool("work", { n }));
    const agent = createAgent({
      model: new ScriptedModel([...work, "Done."]),
      tools: [tool(() => "ok", { name: "work", description: "Works.", schema: z.object({ n: z.number() }) })],
      middleware: [middleware()],
    });
    compiled.mockClear();
    await agent.invoke({ messages: [new HumanMessage("Go.")] }, CONFIG);
    counts.push(compiled.mock.calls.length);
  }
  compiled.mockRestore();
  expect(counts[1]).toBe(counts[0]);
});
