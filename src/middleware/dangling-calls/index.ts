import { ToolMessage, type AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/**
 * Answers tool calls that nobody answered, as happens when a run is interrupted and goes on with new input:
 * providers refuse a conversation with such calls. The request is repaired, the state stays as it is.
 */
export function danglingCallsMiddleware() {
  return createMiddleware({
    name: "DanglingCallsMiddleware",
    wrapModelCall: (request, handler) => handler({ ...request, messages: repaired(request.messages) }),
  });
}

function repaired(messages: BaseMessage[]): BaseMessage[] {
  const fixed = messages.flatMap((message, index) => {
    const open = unanswered(messages, index);
    return open.length > 0 ? [message, ...open.map((call) => notRun(call.name, call.id ?? ""))] : message;
  });
  return fixed.length === messages.length ? messages : fixed;
}

/** The calls of the message at this place without a reply right behind it: some models use their call ids again. */
function unanswered(messages: readonly BaseMessage[], index: number): ToolCall[] {
  const message = messages[index]!;
  // Every message of a long thread passes here in every model call: `isInstance` would ask much of each.
  const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
  if (calls.length === 0) return calls;
  const answered: string[] = [];
  for (let at = index + 1; messages[at]?.type === "tool"; at += 1) {
    answered.push((messages[at] as ToolMessage).tool_call_id);
  }
  return calls.filter((call) => !answered.includes(call.id ?? ""));
}

function notRun(name: string, id: string): ToolMessage {
  const content =
    "Not finished: the run was interrupted before this call returned. Call it again if you still need it.";
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}
