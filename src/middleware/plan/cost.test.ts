import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { isRelease } from "../../../test/helpers/runner/rounds.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { planMiddleware } from "./index.ts";
import type { PlanOptions } from "./options.ts";

const work = tool(({ n }) => `result ${n}`, {
  name: "work",
  description: "work",
  schema: z.object({ n: z.number() }),
});
const go = { messages: [new HumanMessage("go")] };
const TURNS = 30;

/** A plan of 30 items, each done in a turn of its own together with the next work call. */
const planned: Step[] = [
  [
    callTool("write_todos", { todos: Array.from({ length: TURNS }, (_, n) => `step ${n + 1}`) }),
    callTool("work", { n: 0 }),
  ],
  ...Array.from({ length: TURNS - 1 }, (_, n) => [
    callTool("update_todos", { done: String(n + 1) }),
    callTool("work", { n: n + 1 }),
  ]),
  callTool("update_todos", { done: String(TURNS) }),
  "ok",
];
const bare: Step[] = [
  callTool("work", { n: 0 }),
  ...Array.from({ length: TURNS }, (_, n) => callTool("work", { n: n + 1 })),
  "ok",
];

async function supersteps(steps: Step[], options?: PlanOptions): Promise<number> {
  const checkpointer = new MemorySaver();
  const agent = createAgent({
    model: new ScriptedModel(steps),
    tools: [work],
    middleware: options ? [planMiddleware(options)] : [],
    checkpointer,
  });
  await agent.invoke(go, { configurable: { thread_id: "t" }, recursionLimit: 1000 });
  // One checkpoint is saved per superstep.
  return Object.keys(checkpointer.storage["t"]![""]!).length;
}

describe("the cost of a plan in graph steps", () => {
  it("is zero in lean, classic and checklist", async () => {
    const floor = await supersteps(bare);
    expect(await supersteps(planned, {})).toBe(floor);
    // An answer that completes the last item saves the closing report's turn, of a model and a tools step.
    expect(await supersteps([...planned.slice(0, -2), "ok"], {})).toBe(floor - 2);
    expect(await supersteps(bare, {})).toBe(floor);
    expect(await supersteps(bare, { preset: "classic" })).toBe(floor);
    expect(await supersteps(bare, { preset: "checklist" })).toBe(floor);
  });

  it.runIf(isRelease)("is one step per turn when a message is persisted or the user is asked", async () => {
    const floor = await supersteps(bare);
    const modelCalls = TURNS + 2;
    expect(await supersteps(bare, { preset: "deerflow" })).toBe(floor + modelCalls);
    expect(await supersteps(bare, { approval: "first" })).toBe(floor + modelCalls);
  });
});

describe("the cost of a plan in the store", () => {
  it("is small in a working turn: Holdfast writes only what changed in its memory", async () => {
    // Every look at it is later, and by more: no two calls take equally long.
    let [clock, pace] = [1000, 1];
    const agent = createAgent({
      model: new ScriptedModel([
        [callTool("write_todos", { todos: ["one", "two"] }), callTool("work", { n: 0 })],
        callTool("work", { n: 1 }),
        callTool("work", { n: 2 }),
        "ok",
      ]),
      tools: [work],
      middleware: [planMiddleware({ reminders: false, now: () => (clock += pace++) })],
    });
    const written: object[] = [];
    for await (const update of await agent.stream(go, { streamMode: "updates" })) {
      const { _plan } = ((update as Record<string, unknown>)["model_request"] ?? {}) as { _plan?: object };
      if (_plan) written.push(_plan);
    }
    expect(written.map((one) => Object.keys(one).toSorted())).toEqual([
      ["at", "ledger", "run", "tally", "took"],
      // The ledger comes on top after a plan call.
      ["at", "ledger", "moves", "rounds", "tally", "took"],
      ["at", "rounds", "tally", "took"],
      ["at", "tally", "took"],
    ]);
    // What is longer has a row of its own in every turn.
    expect(JSON.stringify(written[2]).length).toBeLessThan(128);
  });
});

describe("the provider's prompt cache", () => {
  const wire = (messages: BaseMessage[]): string[] =>
    messages.map((message) => {
      const calls = "tool_calls" in message ? message.tool_calls : undefined;
      return JSON.stringify([message.getType(), message.content, calls]);
    });

  it("holds: in lean each request begins with the whole request before it", async () => {
    const model = new ScriptedModel(planned);
    const agent = createAgent({
      model,
      tools: [work],
      systemPrompt: "Be brief.",
      middleware: [planMiddleware()],
    });
    await agent.invoke(go, { recursionLimit: 1000 });
    expect(model.requests).toHaveLength(TURNS + 2);
    model.requests.slice(1).forEach((request, index) => {
      const before = model.requests[index]!;
      expect(request.tools).toEqual(before.tools);
      expect(wire(request.messages).slice(0, before.messages.length)).toEqual(wire(before.messages));
    });
  });

  it("survives reminders, which stand at the very end and stay or leave no trace", async () => {
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["a", "b"] }),
      ...Array.from({ length: 8 }, (_, n) => callTool("work", { n })),
      "early",
      callTool("update_todos", { done: "1,2" }),
      "ok",
    ]);
    const agent = createAgent({ model, tools: [work], middleware: [planMiddleware()] });
    const { messages } = await agent.invoke(go, { recursionLimit: 1000 });
    const conversation = wire(messages);
    let reminded = 0;
    for (const request of model.requests) {
      const sent = wire(request.messages.slice(1));
      const kept = sent.findIndex((message, index) => message !== conversation[index]);
      const tail = request.messages.slice(kept < 0 ? request.messages.length : kept + 1);
      if (tail.length > 0) reminded += 1;
      expect(tail.filter((message) => message.getType() === "tool")).toEqual([]);
    }
    expect(reminded).toBe(2);
    expect(messages.filter(({ name }) => name === "todo_completion_reminder")).toHaveLength(1);
  });
});
