import type { BaseMessage } from "@langchain/core/messages";
import type { Todo } from "../plan/index.ts";
import type { RunAgent } from "./agent.ts";

/** The plan of a thread. */
export async function readPlan({ graph }: RunAgent, thread: string): Promise<Todo[]> {
  const { values } = await graph.getState({ configurable: { thread_id: thread } });
  return (values as { todos?: Todo[] }).todos ?? [];
}

/** Puts a person's list in the place of a thread's plan. Throws `invalid-plan`, and changes nothing then. */
export async function writePlan(
  { graph }: RunAgent,
  thread: string,
  todos: readonly unknown[],
): Promise<void> {
  const config = { configurable: { thread_id: thread } };
  const { next, values } = await graph.getState(config);
  const { messages = [] } = values as { messages?: BaseMessage[] };
  // In a turn that was cut short LangChain would take the answered calls for all of them, and end the run.
  const isHalfDone = next.includes("tools") && messages.at(-1)?.getType() === "tool";
  await graph.updateState(config, { todos }, isHalfDone ? "tools" : undefined);
}
