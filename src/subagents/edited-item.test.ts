import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { describe, expect, it } from "vitest";
import type { PlanChangeEvent } from "../middleware/plan/events.ts";
import { planMiddlewareOf, planParts } from "../middleware/plan/index.ts";
import type { PlanOptions } from "../middleware/plan/options.ts";
import type { Todo } from "../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { subagentsMiddleware } from "./index.ts";

const go = { messages: [new HumanMessage("go")] };
const config = { configurable: { thread_id: "t" } };
/** As if the process had been killed after the model's message, before the tool calls in it. */
const killed = { ...config, interruptBefore: ["tools" as const] };
const TWO = callTool("write_todos", { todos: ["dig", "fill"] });
const update = (args: Record<string, unknown>) => callTool("update_todos", args);
const task = (todo_id: string) => callTool("task", { description: "dig", subagent_type: "digger", todo_id });
const EDITABLE: PlanOptions = { completed: "editable" };

function threadWith(steps: Step[], options: PlanOptions = {}) {
  let runs = 0;
  const model = new ScriptedModel(steps);
  const events: PlanChangeEvent[] = [];
  const plan = planParts({
    onPlanChange: (event) => void events.push(event),
    verify: false,
    finalAnswer: "leave",
    reminders: { exit: false, stale: false },
    ...options,
  });
  const runnable = {
    invoke: async () => {
      runs += 1;
      return { messages: [new AIMessage("dug")] };
    },
  };
  const subagents = [{ name: "digger", description: "digs", runnable }];
  const agent = createAgent({
    model,
    middleware: [planMiddlewareOf(plan), subagentsMiddleware({ subagents, plan })],
    checkpointer: new MemorySaver(),
  });
  const todos = async (): Promise<Todo[]> => (await agent.graph.getState(config)).values.todos as Todo[];
  return {
    model,
    events,
    agent,
    runs: () => runs,
    statuses: async () => (await todos()).map((todo) => todo.status).join(" "),
    edit: async (id: string, fields: Partial<Todo>) =>
      agent.graph.updateState(config, {
        todos: (await todos()).map((todo) => (todo.id === id ? { ...todo, ...fields } : todo)),
      }),
    resume: () => agent.invoke(null as never, config),
    goOn: () => agent.invoke({ messages: [new HumanMessage("go on")] }, config),
  };
}

/** A thread with a plan of two and a turn whose calls are waiting. */
async function waiting(turn: Step, after: Step[], options: PlanOptions = {}) {
  const thread = threadWith([TWO, turn, ...after], options);
  await thread.agent.invoke(go, killed);
  await thread.agent.invoke(null as never, killed);
  return thread;
}

const replies = ({ requests }: ScriptedModel): string[] =>
  requests
    .at(-1)!
    .messages.filter((message) => ToolMessage.isInstance(message) && message.name === "task")
    .map((message) => message.text);

/** How often each request says that the user changed the plan. */
const told = ({ requests }: ScriptedModel): number[] =>
  requests.map(({ messages }) => messages.filter(({ text }) => text.includes("The user changed")).length);

const CANCELLED =
  "Error: Item 2 is cancelled: the user set it so. Nothing was started. Continue without it; add a new item for work that is still needed.";

describe("a sub-agent for an item that the user cancelled or completed", () => {
  it("is not started again when the user started it while the call waited", async () => {
    for (const status of ["cancelled", "completed"] as const) {
      for (const options of [{}, EDITABLE]) {
        const { model, edit, resume, runs, statuses } = await waiting(task("2"), ["ok"], options);
        await edit("2", { status });
        await resume();
        expect(runs()).toBe(0);
        expect(await statuses()).toBe(`in_progress ${status}`);
        expect(replies(model)).toEqual([CANCELLED.replace("cancelled", status)]);
        expect(model.requests[2]!.messages.at(-1)!.text).toContain(`2 is now ${status}.`);
        expect(told(model)).toEqual([0, 0, 1]);
      }
    }
  });

  it("is not started when another waiting call would have reopened the item", async () => {
    const { model, edit, resume, runs } = await waiting([update({ start: "2" }), task("2")], ["ok"]);
    await edit("2", { status: "cancelled" });
    await resume();
    expect(runs()).toBe(0);
    expect(replies(model)).toEqual([CANCELLED]);
    expect(told(model)).toEqual([0, 0, 1]);
  });

  it("is not started later either, until the model reopens the item itself", async () => {
    const { model, agent, edit, goOn, runs, statuses } = threadWith([
      TWO,
      "1",
      task("2"),
      update({ add: ["rest"] }),
      task("2"),
      "2",
      [update({ start: "2" }), task("2")],
      "3",
    ]);
    await agent.invoke(go, config);
    await edit("2", { status: "cancelled" });
    await goOn();
    expect(replies(model)).toEqual([CANCELLED, CANCELLED]);
    expect(await statuses()).toBe("in_progress cancelled pending");
    await goOn();
    expect(runs()).toBe(1);
    expect(await statuses()).toBe("in_progress completed pending");
    expect(told(model)).toEqual([0, 0, 1, 0, 0, 0, 0, 0]);
  });

  it("is not started after the news came with the result of a plan call", async () => {
    const { model, edit, resume, runs } = await waiting(
      [update({ done: "1" }), update({ add: ["rest"] })],
      [task("2"), "ok"],
    );
    await edit("2", { status: "cancelled" });
    await resume();
    expect(runs()).toBe(0);
    expect(replies(model)).toEqual([CANCELLED]);
  });
});

describe("a sub-agent for an item that the model itself closed", () => {
  it("reopens what was cancelled or completed", async () => {
    for (const closed of [update({ cancel: "1" }), update({ done: "1" })]) {
      for (const options of [{}, EDITABLE]) {
        const { agent, runs, statuses } = threadWith([TWO, closed, task("1"), "ok"], options);
        await agent.invoke(go, config);
        expect(runs()).toBe(1);
        expect(await statuses()).toBe("completed in_progress");
      }
    }
  });

  it("takes what waits for the item out of progress until it is completed again", async () => {
    const plan = callTool("write_todos", { todos: ["dig", { content: "fill", after: [1] }] });
    const { agent, events } = threadWith([plan, update({ done: "1" }), task("1"), "ok"]);
    await agent.invoke(go, config);
    const lists = events.map((event) => event.todos.map(({ status }) => status).join(" "));
    expect(lists.slice(-3)).toEqual([
      "completed in_progress",
      "in_progress pending",
      "completed in_progress",
    ]);
  });
});

describe("a sub-agent that was waiting while the user changed its item otherwise", () => {
  it("is started on a reworded item, and the model reads the new words", async () => {
    const { model, edit, resume, runs, statuses } = await waiting(task("1"), [update({ done: "2" }), "ok"]);
    await edit("1", { content: "dig deeper" });
    await resume();
    expect(runs()).toBe(1);
    expect(await statuses()).toBe("completed completed");
    expect(model.requests[2]!.messages.at(-1)!.text).toContain(
      'The user changed your plan: 1 has content "dig deeper".',
    );
    expect(told(model)).toEqual([0, 0, 1, 0]);
  });

  it("leaves the news of the item that starts next", async () => {
    const { model, edit, resume } = await waiting(task("1"), ["ok"]);
    await edit("2", { content: "fill half" });
    await resume();
    expect(model.requests[2]!.messages.at(-1)!.text).toContain(
      'The user changed your plan: 2 has content "fill half".',
    );
  });

  it("needs another call when the user blocked the item", async () => {
    const { model, edit, resume, runs, statuses } = await waiting(task("1"), [task("1"), "ok"]);
    await edit("1", { status: "blocked", note: "ask first" });
    await resume();
    expect(replies(model)[0]).toBe(
      "Error: Item 1 is blocked: the user set it so. Nothing was started. Call again only if it is to be worked on all the same.",
    );
    expect(runs()).toBe(1);
    expect(await statuses()).toBe("completed in_progress");
    expect(told(model)).toEqual([0, 0, 1, 0]);
  });
});
