import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";
import type { Todo } from "../../plan/index.ts";

/** The calls of a conversation's last turn without a result. */
export function openCalls(messages: readonly BaseMessage[]): ToolCall[] {
  const turn = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const results = resultsOf(messages, turn);
  const { tool_calls: calls = [] } = (messages[turn] ?? {}) as Partial<AIMessage>;
  return calls.filter(({ id = "" }) => !results.has(id));
}

/** The results of the calls in a message, by id. Only up to the next answer, as some models reuse ids. */
export function resultsOf(messages: readonly BaseMessage[], turn: number): Map<string, ToolMessage> {
  const results = new Map<string, ToolMessage>();
  for (let at = turn + 1; at < messages.length; at += 1) {
    const message = messages[at];
    if (AIMessage.isInstance(message)) break;
    if (ToolMessage.isInstance(message)) results.set(message.tool_call_id, message);
  }
  return results;
}

/** A plan in which items of running sub-agents are in progress: the stored plan changes with their reports. */
export function withTasks(todos: readonly Todo[], calls: readonly Pick<ToolCall, "name" | "args">[]): Todo[] {
  const ids = calls.flatMap(({ name, args }) => (name === "task" ? String(args["todo_id"]) : []));
  const isStarted = ({ id, status }: Todo): boolean => status === "pending" && ids.includes(id);
  return todos.map((todo) => (isStarted(todo) ? { ...todo, status: "in_progress" } : todo));
}
