import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { expect, it } from "vitest";
import { z } from "zod";
import { planMiddlewareOf, planParts } from "../middleware/plan/index.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import { subagentsMiddleware } from "./index.ts";

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

/** Runs a thread whose sub-agent works for 3 seconds, asks, works for 3 more, asks, and works for 3 more. */
async function elapsed(steps: Step[]): Promise<(number | undefined)[]> {
  const clock = { now: DAY };
  const spend = (): void => void (clock.now += 3 * SECOND);
  let done = 0;
  const invoke = async () => {
    for (const question of [1, 2]) {
      if (done < question) spend();
      done = Math.max(done, question);
      interrupt({ question });
    }
    spend();
    return { messages: [new AIMessage("dug")] };
  };
  const work = tool(spend, { name: "work", description: "work", schema: z.object({}) });
  const plan = planParts({ now: () => clock.now, reminders: false });
  const subagents = [{ name: "digger", description: "digs", runnable: { invoke } }];
  const agent = createAgent({
    model: new ScriptedModel(steps),
    tools: [work],
    checkpointer: new MemorySaver(),
    middleware: [planMiddlewareOf(plan), subagentsMiddleware({ subagents, plan })],
  });
  const config = { configurable: { thread_id: "t" } };
  await agent.invoke({ messages: [new HumanMessage("go")] }, config);
  clock.now += DAY;
  await agent.invoke(new Command({ resume: "yes" }), config);
  clock.now += DAY;
  const { todos } = await agent.invoke(new Command({ resume: "yes" }), config);
  return todos.map(({ actuals }) => actuals?.elapsedMs);
}

const plan = callTool("write_todos", { todos: ["Dig", "Fill"] });
const task = { description: "dig", subagent_type: "digger" };
const done = (id: string) => callTool("update_todos", { done: id });

it("an item's time has its sub-agent's work around questions, without the waiting", async () => {
  const delegate = callTool("task", { ...task, todo_id: "1" });
  expect(await elapsed([plan, delegate, callTool("work"), done("2"), "Done."])).toEqual([
    9 * SECOND,
    3 * SECOND,
  ]);
});

it("an item's time has the work of a helping sub-agent, without the waiting", async () => {
  const steps = [plan, callTool("task", task), done("1"), callTool("work"), done("2"), "Done."];
  expect(await elapsed(steps)).toEqual([9 * SECOND, 3 * SECOND]);
});
