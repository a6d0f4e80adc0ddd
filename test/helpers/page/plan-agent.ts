import { HumanMessage } from "@langchain/core/messages";
import { planMiddleware, type PlanOptions } from "holdfast/middleware";
import { createAgent } from "langchain";
import { callTool, ScriptedModel } from "../../../src/testing/scripted-model.ts";

/** Runs an agent with a plan of two items, which stops early once. */
export async function runPlanAgent(preset: NonNullable<PlanOptions["preset"]>) {
  const plan = (...statuses: string[]) =>
    callTool("write_todos", {
      todos: statuses.map((status, at) => ({ content: `Step ${at + 1}`, status })),
    });
  const model = new ScriptedModel([
    plan("in_progress", "pending"),
    "All done.",
    plan("completed", "completed"),
    "Now it is.",
  ]);
  let changes = 0;
  const onPlanChange = (): void => void (changes += 1);
  const agent = createAgent({
    model,
    tools: [],
    middleware: [planMiddleware({ preset, verify: () => true, onPlanChange })],
  });
  const { todos, messages } = await agent.invoke({ messages: [new HumanMessage("Do two steps.")] });
  return {
    todos: todos.map(({ content, status }) => `${content}: ${status}`),
    answer: messages.at(-1)!.text,
    changes,
    lastWords: model.requests.map((request) => request.messages.at(-1)!.text),
  };
}
