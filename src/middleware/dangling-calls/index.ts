import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";

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
  const answered = new Set(
    messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.tool_call_id : [])),
  );
  const isDangling = (message: BaseMessage): message is AIMessage =>
    AIMessage.isInstance(message) && (message.tool_calls ?? []).some((call) => !answered.has(call.id ?? ""));
  if (!messages.some(isDangling)) return messages;
  return messages.flatMap((message) => {
    if (!isDangling(message)) return message;
    const open = message.tool_calls!.filter((call) => !answered.has(call.id ?? ""));
    return [message, ...open.map((call) => notRun(call.name, call.id ?? ""))];
  });
}

function notRun(name: string, id: string): ToolMessage {
  const content =
    "Not finished: the run was interrupted before this call returned. Call it again if you still need it.";
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}
