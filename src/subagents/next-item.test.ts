import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { PlanChangeEvent } from "../middleware/plan/events.ts";
import { planMiddlewareOf, planParts } from "../middleware/plan/index.ts";
import type { PlanOptions } from "../middleware/plan/options.ts";
import { workWasDone } from "../middleware/plan/plan-call/evidence.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { subagentsMiddleware } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
const write = (...todos: string[]) => callTool("write_todos", { todos });
const update = (args: Record<string, unknown>) => callTool("update_todos", args);
const task = (todo_id: string, subagent_type = "digger") =>
  callTool("task", { description: "dig", subagent_type, todo_id });
const work = tool(() => "worked", { name: "work", description: "work", schema: z.object({}) });

const usage = { input_tokens: 1000, output_tokens: 100, total_tokens: 1100 };
const costly = (calls: ReturnType<typeof callTool>[], text = "") =>
  Object.assign(new AIMessage({ content: text, tool_calls: calls }), { usage_metadata: usage });

/** Spends five model calls and four tool calls. */
const DUG = { messages: [...Array.from({ length: 4 }, () => costly([callTool("dig")])), costly([], "dug")] };
const SUBAGENTS = [
  { name: "digger", description: "digs", runnable: { invoke: async () => DUG } },
  {
    name: "cut",
    description: "is cut off",
    runnable: {
      invoke: async () => ({
        messages: [new AIMessage({ content: "half a hole", response_metadata: { finish_reason: "length" } })],
        files: { "/hole.txt": "half" },
      }),
    },
  },
  { name: "broken", description: "x", runnable: { invoke: () => Promise.reject(new Error("no spade")) } },
  {
    name: "asking",
    description: "asks",
    runnable: { invoke: async () => ({ messages: [new AIMessage(`dug ${String(interrupt("deep?"))}`)] }) },
  },
];

/** A thread; `agent()` is what another process would build to go on with it. */
function threadWith(steps: Step[], options: PlanOptions = {}) {
  const model = new ScriptedModel(steps);
  const events: PlanChangeEvent[] = [];
  const checkpointer = new MemorySaver();
  const agent = () => {
    const plan = planParts({ verify: false, onPlanChange: (event) => void events.push(event), ...options });
    return createAgent({
      model,
      tools: [work],
      middleware: [planMiddlewareOf(plan), subagentsMiddleware({ subagents: SUBAGENTS, plan })],
      checkpointer,
    });
  };
  return { model, events, agent };
}

async function run(steps: Step[], options: PlanOptions = {}) {
  const { model, events, agent } = threadWith(steps, options);
  const { todos, messages } = await agent().invoke(go, config);
  const results = messages.filter((message) => ToolMessage.isInstance(message));
  const statuses = todos.map((todo) => todo.status).join(" ");
  return { model, events, todos, statuses, results: results.map(({ text }) => text) };
}

/** What each request says of the plan besides the conversation. */
const told = ({ requests }: ScriptedModel): (string | undefined)[] =>
  requests.map(({ messages }) => messages.find(({ name }) => name === "todo_status")?.text);

it.each([
  ["lean", true],
  ["checklist", true],
  ["classic", false],
  ["deerflow", false],
] as const)("an item of a plan in %s can be given to a sub-agent: %s", async (preset, isOffered) => {
  const { model } = await run(["ok"], { preset });
  expect(JSON.stringify(model.requests[0]!.tools).includes("todo_id")).toBe(isOffered);
});

it("a sub-agent without a given item works on the one in progress", async () => {
  const list = (...statuses: string[]) =>
    callTool("write_todos", { todos: statuses.map((status, at) => ({ content: `${at}`, status })) });
  const helper = callTool("task", { description: "dig", subagent_type: "digger" });
  const steps = [list("in_progress", "pending"), helper, list("completed", "pending"), "ok"];
  const { todos } = await run(steps, { preset: "classic" });
  expect(todos.map(({ actuals }) => actuals?.inputTokens)).toEqual([5000, undefined]);
});

describe("the item after one that a sub-agent completed", () => {
  const DELEGATED: Step[] = [write("dig", "fill"), task("1")];

  it("is verified by the work on it", async () => {
    const verify = workWasDone();
    const lazy = await run([...DELEGATED, update({ done: "2" }), "1", "2", "3"], { verify });
    expect(lazy.statuses).toBe("completed in_progress");
    const worked = await run([...DELEGATED, callTool("work"), update({ done: "2" }), "ok"], { verify });
    expect(worked.statuses).toBe("completed completed");
  });

  it("is completed by an answer after work, but not by one right after the report", async () => {
    const early = await run([...DELEGATED, "1", "2", "3"]);
    expect(early.statuses).toBe("completed in_progress");
    const worked = await run([...DELEGATED, callTool("work"), "All done."]);
    expect(worked.statuses).toBe("completed completed");
    expect(worked.model.requests).toHaveLength(4);
  });

  it("has its own cost only, and the sub-agent's cost belongs to the earlier item", async () => {
    const steps = [...DELEGATED, costly([callTool("work")]), update({ done: "2" }), "ok"];
    const { todos } = await run(steps, { now: () => 5 });
    const time = { startedAt: 5, elapsedMs: 0 };
    expect(todos.map(({ actuals }) => actuals)).toEqual([
      { ...time, modelCalls: 6, toolCalls: 5, inputTokens: 5000, outputTokens: 500 },
      { ...time, modelCalls: 2, toolCalls: 1, inputTokens: 1000, outputTokens: 100 },
    ]);
  });

  it("is not there yet when the verifier refuses, and the costs are not lost", async () => {
    let asked = 0;
    const verify = () => asked++ > 0 || "not deep enough";
    const { todos } = await run([...DELEGATED, update({ done: "1" }), "1", "2", "3"], { verify });
    expect(todos[0]).toMatchObject({ status: "completed", actuals: { modelCalls: 7, inputTokens: 5000 } });
  });
});

describe("after several sub-agents in one turn", () => {
  const PLAN = write("dig", "fill", "plant");
  const both: Step = [task("1"), task("2")];

  it("the next item starts in the next model step, and the model is notified once", async () => {
    const { model, events, todos, statuses } = await run([PLAN, both, callTool("work"), "All done."]);
    expect(statuses).toBe("completed completed completed");
    expect(model.requests).toHaveLength(4);
    expect(told(model)).toEqual([
      undefined,
      undefined,
      "<system_reminder>2/3 done; now 3.</system_reminder>",
      undefined,
    ]);
    const started = events.filter(({ changes }) => changes.some((change) => isStart(change, "3")));
    expect(started).toMatchObject([{ by: "harness", counts: { completed: 2, in_progress: 1 } }]);
    expect(todos[2]?.actuals).toMatchObject({ modelCalls: 2, toolCalls: 1 });
    for (const { messages } of model.requests) {
      expect(messages.filter(({ text }) => text.includes("The user changed"))).toEqual([]);
    }
  });

  it("an answer right away does not complete it", async () => {
    const { model, statuses } = await run([PLAN, both, "1", "2", "3"]);
    expect(statuses).toBe("completed completed in_progress");
    expect(model.requests).toHaveLength(5);
  });

  it("the next item starts even if a sub-agent waited for the user in another process", async () => {
    const { model, agent } = threadWith([PLAN, [task("1"), task("2", "asking")], callTool("work"), "ok"]);
    await agent().invoke(go, config);
    const { todos } = await agent().invoke(new Command({ resume: "yes" }), config);
    expect(todos.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
    expect(told(model)[2]).toContain("2/3 done; now 3.");
  });

  it("the next item waits after a sub-agent's failure or when the policy allows idling", async () => {
    const failed = await run([PLAN, [task("1"), task("2", "broken")], "1", "2", "3"]);
    expect(failed.statuses).toBe("completed in_progress pending");
    const idle = await run([PLAN, both, "1", "2", "3"], { idle: "allow" });
    expect(idle.statuses).toBe("completed completed pending");
    for (const { model } of [failed, idle]) expect(told(model)).toEqual(Array(5).fill(undefined));
  });

  it("a report in the next work call is about the plan with the item started", async () => {
    const report = callTool("work", { todo_done: "3" });
    const { statuses, model } = await run([write("a", "b", "c", "d"), both, report, callTool("work"), "ok"], {
      reports: "inline",
    });
    expect(statuses).toBe("completed completed completed completed");
    expect(model.requests).toHaveLength(5);
  });

  it("a plan call next to a single sub-agent leaves no open item idle", async () => {
    const { statuses, model } = await run([PLAN, [task("1"), update({ done: "2" })], "1", "2", "3"]);
    expect(statuses).toBe("completed completed in_progress");
    expect(told(model)[2]).toContain("2/3 done; now 3.");
  });

  it("an item that the user set to pending stays pending", async () => {
    const { agent } = threadWith([PLAN, both, "1", "2", "3", callTool("work"), "4", "5", "6"]);
    const { todos } = await agent().invoke(go, config);
    const paused = todos.map((todo) => (todo.id === "3" ? { ...todo, status: "pending" } : todo));
    await agent().graph.updateState(config, { todos: paused });
    const after = await agent().invoke({ messages: [new HumanMessage("not now")] }, config);
    expect(after.todos[2]?.status).toBe("pending");
  });
});

function isStart(change: PlanChangeEvent["changes"][number], id: string): boolean {
  return change.type === "todo-status" && change.id === id && change.to === "in_progress";
}

it("an item stays in progress when its sub-agent was stopped, and its work is kept", async () => {
  const { agent } = threadWith([write("Dig", "Fill"), task("1", "cut"), "Ok.", "Ok.", "Ok."]);
  const { todos, messages } = await agent().invoke(go, config);
  expect(todos.map(({ status }) => status)).toEqual(["in_progress", "pending"]);
  expect(todos[0]?.note).toBe("sub-agent: it was stopped before it had finished");
  const [, result] = messages.filter((message) => ToolMessage.isInstance(message));
  expect(result?.text).toBe(
    "half a hole\n[In part: it was stopped before it had finished. Todo 1 is still in progress.] t1",
  );
});

it("watchers get earlier changes when a sub-agent continues after a question", async () => {
  const { agent, events } = threadWith([
    write("Dig", "Fill", "Plant"),
    [update({ done: "1", add: ["Water"] }), task("2", "asking")],
    callTool("work"),
    update({ done: ["3", "4"] }),
    "Done.",
  ]);
  const before = (await agent().invoke(go, config)) as object;
  expect(before).toHaveProperty("__interrupt__");
  const contents = (event: PlanChangeEvent | undefined) => event?.todos.map(({ content }) => content);
  expect(contents(events.at(-1))).toEqual(["Dig", "Fill", "Plant", "Water"]);
  const count = events.length;
  await agent().invoke(new Command({ resume: "yes" }), config);
  expect(events.length).toBeGreaterThan(count);
  for (const event of events.slice(count)) {
    expect(event.todos[0]?.status).toBe("completed");
    expect(contents(event)).toEqual(["Dig", "Fill", "Plant", "Water"]);
  }
});
