import { AIMessage, ToolMessage, type BaseMessage, type ToolCall } from "@langchain/core/messages";

/** The calls of a conversation's last turn that have no result in it. */
export function openCalls(messages: readonly BaseMessage[]): ToolCall[] {
  const turn = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const results = messages
    .slice(turn + 1)
    .flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : []));
  const answered = new Set(results);
  const { tool_calls: calls = [] } = (messages[turn] ?? {}) as Partial<AIMessage>;
  return calls.filter(({ id = "" }) => !answered.has(id));
}
