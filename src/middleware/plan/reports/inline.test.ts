import type { ToolDefinition } from "@langchain/core/language_models/base";
import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { isPlanChangeEvent } from "../events.ts";
import { planMiddleware } from "../index.ts";
import { keepReports, takeReports, withDoneArgument, withReports } from "../messages/inline-argument.ts";
import type { PlanOptions } from "../options.ts";

const go = { messages: [new HumanMessage("go")] };
const THREE = callTool("write_todos", { todos: ["read", "build", "test"] });
const work = (n: number, done?: unknown): ReturnType<typeof callTool> =>
  callTool("work", { n, ...(done !== undefined && { todo_done: done }) });

function agentWith(steps: Step[], options: PlanOptions = {}) {
  const got: unknown[] = [];
  const model = new ScriptedModel(steps);
  const agent = createAgent({
    model,
    // It would refuse an argument that it does not know.
    tools: [
      tool((args) => `worked ${got.push(args)}`, {
        name: "work",
        description: "Do one step.",
        schema: z.strictObject({ n: z.number() }),
      }),
    ],
    middleware: [planMiddleware({ verify: false, reports: "inline", ...options })],
    checkpointer: new MemorySaver(),
  });
  return { model, agent, got, config: { configurable: { thread_id: "t" } } };
}

async function run(steps: Step[], options: PlanOptions = {}) {
  const { agent, config, ...rest } = agentWith(steps, options);
  const { messages, todos } = await agent.invoke(go, config);
  return { ...rest, agent, config, messages, statuses: todos.map(({ status }) => status) };
}

const callsOf = (message: BaseMessage): unknown[] =>
  AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(({ args }) => args) : [];
const told = (messages: readonly BaseMessage[]): string[] =>
  messages.flatMap((message) =>
    ToolMessage.isInstance(message)
      ? (/<system_reminder>(.*)<\/system_reminder>/s.exec(message.text)?.[1] ?? [])
      : [],
  );

describe("reports in work calls", () => {
  const SCRIPT: Step[] = [[THREE, work(1)], work(2, "1"), work(3, "2"), "All done."];

  it("complete items without a call, a result or a turn of their own", async () => {
    const { model, messages, statuses, got } = await run(SCRIPT);
    expect(statuses).toEqual(["completed", "completed", "completed"]);
    expect(model.requests).toHaveLength(4);
    expect(messages.filter((message) => ToolMessage.isInstance(message))).toHaveLength(4);
    expect(got).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it("are confirmed in a word, with the result of their call", async () => {
    const { model } = await run(SCRIPT);
    const results = model.requests.at(-1)!.messages.filter((message) => ToolMessage.isInstance(message));
    expect(results.slice(1).map(({ text }) => text)).toEqual([
      "worked 1",
      "worked 2\n\n[1 done]",
      "worked 3\n\n[2 done]",
    ]);
  });

  it("are asked for in every tool but the plan's own", async () => {
    const { model } = await run(SCRIPT);
    const shown = Object.fromEntries(
      (model.requests[0]!.tools as ToolDefinition[]).map(({ function: { name, parameters } }) => [
        name,
        Object.keys((parameters as { properties: object }).properties),
      ]),
    );
    expect(shown["work"]).toEqual(["n", "todo_done"]);
    expect(shown["write_todos"]).toEqual(["todos", "rules"]);
    expect(shown["update_todos"]).not.toContain("todo_done");
    expect(model.requests[0]!.messages[0]!.text).toContain("give its id as todo_done in your next call");
    expect(model.requests[0]!.messages[0]!.text).not.toContain("call update_todos in the same turn");
  });

  it("are visible to the model alone, also when a thread is loaded again", async () => {
    const { model, agent, config, messages } = await run([...SCRIPT, "Hello."]);
    expect(messages.flatMap(callsOf).slice(1)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    await agent.invoke({ messages: [new HumanMessage("again")] }, config);
    for (const request of model.requests.slice(3)) {
      expect(request.messages.flatMap(callsOf).slice(1)).toEqual([
        { n: 1 },
        { n: 2, todo_done: "1" },
        { n: 3, todo_done: "2" },
      ]);
    }
  });

  it("keep requests a prefix of the next one", async () => {
    const { model } = await run(SCRIPT);
    const sent = model.requests.map(({ messages }) =>
      messages.map((message) => JSON.stringify([message.type, message.text, callsOf(message)])),
    );
    for (const [at, before] of sent.slice(0, -1).entries()) {
      expect(sent[at + 1]!.slice(0, before.length)).toEqual(before);
    }
  });

  it("are announced as the model's changes, before the work that they came with", async () => {
    const { agent, config } = agentWith(SCRIPT);
    const seen: string[] = [];
    const stream = await agent.stream(go, { ...config, streamMode: ["custom", "updates"] });
    for await (const [mode, chunk] of stream) {
      if (mode === "custom" && isPlanChangeEvent(chunk)) {
        const { by, counts } = chunk;
        seen.push(`${by} ${counts.completed}/${counts.total}`);
      } else if (mode === "updates") seen.push(...Object.keys(chunk as object));
    }
    expect(seen).toEqual([
      "model_request",
      "model 0/3",
      "tools",
      "tools",
      "model 1/3",
      "model_request",
      "tools",
      "model 2/3",
      "model_request",
      "tools",
      "harness 3/3",
      "model_request",
    ]);
  });

  it("are read in every form that models send, from several calls of a turn", async () => {
    const five = callTool("write_todos", { todos: ["a", "b", "c", "d", "e"] });
    const { statuses, model, messages } = await run([
      [five, work(1, "none")],
      [work(2, 1), work(3, ["2", 3])],
      [work(4, ""), work(5, null)],
      [work(6, "#4")],
      "Done.",
    ]);
    expect(statuses).toEqual(Array(5).fill("completed"));
    expect(model.requests.flatMap((request) => told(request.messages))).toEqual([]);
    expect(messages.at(-1)!.text).toBe("Done.");
  });

  it("are nothing where there is no plan", async () => {
    const { model, statuses, got } = await run([work(1, "1"), "Done."]);
    expect(statuses).toEqual([]);
    expect(got).toEqual([{ n: 1 }]);
    expect(told(model.requests[1]!.messages)).toEqual([]);
  });

  it("count as plan calls: no stale reminder comes after them", async () => {
    const items = Array.from({ length: 6 }, (_, at) => `item ${at + 1}`);
    const steps = items.slice(1).map((_, at) => work(at + 2, String(at + 1)));
    const { model } = await run([[callTool("write_todos", { todos: items }), work(1)], ...steps, "Done."]);
    const names = model.requests.flatMap(({ messages }) => messages.map(({ name }) => name));
    expect(names).not.toContain("todo_stale_reminder");
  });
});

describe("a refused report", () => {
  it("is reported with the result of its call from then on, and to the model alone", async () => {
    const { model, messages, statuses, got } = await run([
      [THREE, work(1)],
      work(2, "7"),
      work(3, "1"),
      work(4, "2"),
      "Ok.",
    ]);
    expect(statuses).toEqual(["completed", "completed", "completed"]);
    expect(got).toHaveLength(4);
    expect(model.requests.map((request) => told(request.messages).length)).toEqual([0, 0, 1, 1, 1]);
    expect(told(messages)).toEqual([]);
    expect(model.requests[2]!.messages.at(-1)!.text).toBe(
      "worked 2\n\n<system_reminder>todo_done: there is no item 7; known ids: 1-3.\nThis report changed nothing.</system_reminder>",
    );
  });

  it("by a verifier names the item and the reason, and accepted items are completed", async () => {
    const { model, statuses } = await run(
      [[THREE, work(1)], work(2, "1,2"), "Blocked.", "Blocked.", "Blocked."],
      {
        verify: ({ id }) => id !== "2" || "there is no build",
      },
    );
    expect(statuses).toEqual(["completed", "in_progress", "pending"]);
    const [reply] = told(model.requests[2]!.messages);
    expect(reply).toContain("there is no build");
    expect(reply).not.toContain("changed nothing");
  });

  it("for one of several items says that none of them was accepted", async () => {
    const todos = ["read", { content: "build", after: [1] }, "test"];
    const { model, statuses } = await run([
      [callTool("write_todos", { todos }), work(1)],
      work(2, "3,2"),
      ...Array<Step>(3).fill("So far."),
    ]);
    expect(statuses).toEqual(["in_progress", "pending", "pending"]);
    expect(told(model.requests[2]!.messages)).toEqual([
      "Item 2 cannot be completed before 1: it depends on that. Complete that first.\nThis report changed nothing.",
    ]);
  });

  it("is reported for a finished plan too", async () => {
    const { model } = await run([
      [callTool("write_todos", { todos: ["read", "build"] }), work(1)],
      [callTool("update_todos", { done: "1,2" }), work(2)],
      work(3, "9"),
      work(4),
      "Ok.",
    ]);
    expect(model.requests.map((request) => told(request.messages).length)).toEqual([0, 0, 0, 1, 1]);
  });
});

describe("tools that stay as they are", () => {
  it("belong to the plan or a provider", () => {
    const named = (name: string): object => tool(() => "", { name, description: name, schema: z.object({}) });
    const [plan, other] = [named("write_todos"), named("other")];
    const provider = { type: "web_search_20250305", name: "web_search" };
    const shown = withDoneArgument([plan, other, provider], ["write_todos"]);
    expect(shown.map((one, at) => one === [plan, other, provider][at])).toEqual([true, false, true]);
    // What a model is sent must not change from one request to the next.
    expect(withDoneArgument([other], [])[0]).toBe(shown[1]);
  });

  it("have an argument of that name", async () => {
    const own = tool(({ todo_done }) => `got ${todo_done}`, {
      name: "own",
      description: "Its own.",
      schema: z.object({ todo_done: z.string() }),
    });
    const model = new ScriptedModel([[THREE, callTool("own", { todo_done: "1" })], "Ok.", "Ok.", "Ok."]);
    const middleware = [planMiddleware({ verify: false, reports: "inline" })];
    const { messages } = await createAgent({ model, tools: [own], middleware }).invoke(go);
    expect(messages.map(({ text }) => text)).toContain("got 1");
  });

  it("planMiddleware explains that inline reports need a preset with updates", () => {
    expect(() => planMiddleware({ preset: "classic", reports: "inline" })).toThrow(
      'planMiddleware: reports: must be "call" where the preset has no tool for updates.',
    );
  });
});

describe("reports and everything else that happens to a plan", () => {
  const todosOf = (list: readonly { id: string; status: string }[]): string[] =>
    list.map(({ id, status }) => `${id} ${status}`);

  it("do not change an item that the user cancelled", async () => {
    const { agent, config } = agentWith([
      [callTool("write_todos", { todos: ["a", "b", "c"] }), work(1)],
      "So far.",
      "So far.",
      "So far.",
      work(2, "1"),
      "Stopped.",
      "Stopped.",
      "Stopped.",
    ]);
    const { todos } = await agent.invoke(go, config);
    const cancelled = todos.map((todo) => (todo.id === "3" ? { ...todo, status: "cancelled" } : todo));
    await agent.graph.updateState(config, { todos: cancelled });
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    const { values } = await agent.graph.getState(config);
    const { _plan } = values as unknown as { _plan: { seen: Record<string, string> } };
    expect(_plan.seen["3"]).toMatch(/^cancelled \w+ person$/);
  });

  it("keep the next answer from completing the item when they were refused", async () => {
    const one = callTool("write_todos", { todos: ["a"] });
    const answers = ["Could not do it.", "Could not do it.", "Could not do it."];
    const { statuses, model } = await run([[one, work(1)], work(2, "9"), ...answers]);
    expect(statuses).toEqual(["in_progress"]);
    expect(model.requests).toHaveLength(5);
  });

  it("show a plan that left the window once, with the result of the call", async () => {
    const items = Array.from({ length: 6 }, (_, at) => `item ${at + 1}`);
    const { model, agent, config } = agentWith([
      [callTool("write_todos", { todos: items }), work(1)],
      "So far.",
      "So far.",
      "So far.",
      work(2, "1"),
      work(3, "2"),
      work(4, "3"),
      "So far.",
      "So far.",
      "So far.",
    ]);
    const { messages } = await agent.invoke(go, config);
    const gone = messages.map(({ id }) => new RemoveMessage({ id: id! }));
    await agent.graph.updateState(config, { messages: gone });
    const before = model.requests.length;
    await agent.invoke({ messages: [new HumanMessage("go on")] }, config);
    const requests = model.requests.slice(before);
    const reminded = requests.map(
      (request) => request.messages.filter(({ name }) => name === "todo_reminder").length,
    );
    expect(reminded.slice(0, 4)).toEqual([1, 0, 0, 0]);
    expect(requests[1]!.messages.at(-1)!.text).toMatch(
      /^worked 2\n\n<system_reminder><plan>\n\[x\] 1: item 1\n/,
    );
  });

  it("stay with the call that made them when another middleware changes the order", () => {
    const message = new AIMessage({
      content: "",
      tool_calls: [
        { type: "tool_call", id: "a", name: "work", args: { n: 1, todo_done: "1" } },
        { type: "tool_call", id: "b", name: "other", args: { n: 2 } },
      ],
    });
    const reports = takeReports(message, { tools: [], planTools: [] });
    keepReports(message, [{ ...reports[0]!, reply: "no" }]);
    message.tool_calls = message.tool_calls!.toReversed();
    const results = ["b", "a"].map((tool_call_id) => new ToolMessage({ content: "ok", tool_call_id }));
    const [shown, ...replies] = withReports([message, ...results], "note");
    expect(callsOf(shown!)).toEqual([{ n: 2 }, { n: 1, todo_done: "1" }]);
    expect(replies.map(({ text }) => text)).toEqual(["ok", "ok\n\n<note>no</note>"]);
  });

  it("are judged call by call", async () => {
    const { statuses, model } = await run([
      [THREE, work(1)],
      [work(2, "1"), work(3, "99")],
      ...Array<Step>(3).fill("So far."),
    ]);
    expect(statuses).toEqual(["completed", "in_progress", "pending"]);
    const [first, second] = model.requests[2]!.messages.slice(-2);
    expect([first!.text, second!.text]).toEqual([
      "worked 2\n\n[1 done]",
      "worked 3\n\n<system_reminder>todo_done: there is no item 99; known ids: 1-3.\nThis report changed nothing.</system_reminder>",
    ]);
  });

  it("get a note when they repeat known facts, and do not delay the stale reminder", async () => {
    const again = Array.from({ length: 4 }, (_, at) => work(at + 3, "1"));
    const { model } = await run([
      [THREE, work(1)],
      work(2, "1"),
      ...again,
      ...Array<Step>(3).fill("So far."),
    ]);
    expect(told(model.requests[3]!.messages)).toEqual([expect.stringContaining("Note: 1 ")]);
    const names = model.requests.flatMap(({ messages }) => messages.map(({ name }) => name));
    expect(names).toContain("todo_stale_reminder");
  });

  it("are refused with the call that makes the plan, since nothing was finished before", async () => {
    const { statuses, model } = await run([[THREE, work(1, "1")], ...Array<Step>(3).fill("So far.")]);
    expect(statuses[0]).toBe("in_progress");
    expect(told(model.requests[1]!.messages)).toEqual([expect.stringContaining("finished before the call")]);
  });

  it("are refused for the item that the same call works on", async () => {
    const subagent = { name: "helper", description: "helps", model: new ScriptedModel(["Helped."]) };
    const model = new ScriptedModel([
      callTool("write_todos", { todos: ["a", "b"] }),
      callTool("task", { description: "do a", subagent_type: "helper", todo_id: "1", todo_done: "1" }),
      callTool("update_todos", { cancel: "2" }),
      "Done.",
    ]);
    const agent = createDeepAgent({
      model,
      subagents: [subagent],
      plan: { verify: false, reports: "inline" },
    });
    const { todos } = await agent.invoke(go);
    expect(todosOf(todos)).toEqual(["1 completed", "2 cancelled"]);
    expect(told(model.requests[2]!.messages)).toEqual([
      expect.stringContaining("item 1 is what this call was for"),
    ]);
  });

  it("in JSON, and in update_todos by the same name, are read too", async () => {
    const { statuses } = await run([
      [THREE, work(1)],
      work(2, '["1"]'),
      [callTool("update_todos", { todo_done: "2" }), work(3, "[]")],
      "Done.",
    ]);
    expect(statuses).toEqual(["completed", "completed", "completed"]);
  });

  it("stay optional, and the prompt asks for update_todos calls in strict mode", async () => {
    const { model, statuses, got } = await run([
      [THREE, work(1)],
      work(2),
      ...Array<Step>(3).fill("So far."),
    ]);
    expect([statuses[0], got.length, model.requests.length]).toEqual(["in_progress", 2, 5]);
    const strict = new ScriptedModel(["Hello."]);
    const settings = createMiddleware({
      name: "Strict",
      wrapModelCall: (request, handler) => handler({ ...request, modelSettings: { strict: true } }),
    });
    const middleware = [settings, planMiddleware({ verify: false, reports: "inline" })] as const;
    await createAgent({ model: strict, tools: [], middleware }).invoke(go);
    expect(strict.requests[0]!.messages[0]!.text).toContain("call update_todos in the same turn");
  });
});
