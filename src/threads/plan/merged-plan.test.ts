import { MemorySaver } from "@langchain/langgraph";
import { expect, it } from "vitest";
import type { Todo } from "../../plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../../testing/index.ts";
import { createRunAgent } from "../prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../prepare/settings.ts";
import { Thread } from "../thread/thread.ts";

/** A thread with a plan of three, the plan as a person saw it, and what the agent did to it since. */
async function movedOn(...steps: Step[]) {
  const answers = ["Stop.", "Stop.", "Stop."];
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Dig", "Plant", "Water"] }),
    ...answers,
    ...steps,
    ...answers,
  ]);
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  const agent = createRunAgent({ settings, model, checkpointer: new MemorySaver() });
  const say = async (content: string) => {
    await agent.graph.invoke({ messages: [{ role: "user", content }] } as never, {
      configurable: { thread_id: "t" },
    });
    return new Thread(agent, "t").todos();
  };
  const base = await say("Go");
  const now = await say("Go on");
  return { base, now, write: (todos: unknown[]) => new Thread(agent, "t").writePlan({ todos, base }) };
}

const change = (todos: readonly Todo[], id: string, more: Partial<Todo>): Todo[] =>
  todos.map((todo) => (todo.id === id ? { ...todo, ...more } : todo));

it("an edit of an older plan keeps the agent's later changes", async () => {
  const { base, write } = await movedOn(
    callTool("update_todos", { done: "1", note: "by hand", add: ["Weed"] }),
  );
  const plan = await write([...change(base, "3", { content: "Water daily" }), "Harvest"]);
  expect(plan.map(({ id, content, status }) => `${id} ${content} ${status}`)).toEqual([
    "1 Dig completed",
    "2 Plant in_progress",
    "3 Water daily pending",
    "5 Harvest pending",
    "4 Weed pending",
  ]);
});

it("an edit of an item that the agent also changed is refused with the current item", async () => {
  const { base, now, write } = await movedOn(callTool("update_todos", { done: "1", note: "by hand" }));
  await expect(write(change(base, "1", { content: "Dig deep" }))).rejects.toMatchObject({
    code: "plan-conflict",
    message: expect.stringMatching(
      /^The plan was not changed: it has moved on meanwhile. You changed the same as the agent: .*1 is now completed/,
    ),
    conflicts: [{ id: "1", mine: { content: "Dig deep" }, theirs: { status: "completed" } }],
    todos: now,
  });
});

it("an edit that breaks a rule only together with the agent's changes is a conflict", async () => {
  const shorter = callTool("write_todos", { todos: ["Dig", "Water"] });
  const { base, now, write } = await movedOn(shorter, shorter);
  expect(now).toHaveLength(2);
  await expect(write(change(base, "3", { dependsOn: ["2"] }))).rejects.toMatchObject({
    code: "plan-conflict",
    message: expect.stringContaining("there is no item 2"),
    conflicts: [],
  });
});

it("an edit that breaks a rule by itself is invalid, not a conflict", async () => {
  const { base, write } = await movedOn(callTool("update_todos", { done: "1", note: "by hand" }));
  await expect(write(change(base, "3", { dependsOn: ["9"] }))).rejects.toMatchObject({
    code: "invalid-plan",
  });
  const many = Array.from({ length: 200 }, (_, at) => `Step ${at}`);
  await expect(write([...base, ...many])).rejects.toMatchObject({ code: "invalid-plan" });
});
