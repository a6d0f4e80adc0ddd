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
  const fixed = messages.flatMap((message, index) => {
    const calls = AIMessage.isInstance(message) ? (message.tool_calls ?? []) : [];
    if (calls.length === 0) return message;
    // Only the replies right behind it: some models use their call ids again.
    const answered = new Set<string>();
    for (let at = index + 1; ; at += 1) {
      const reply = messages[at];
      if (!ToolMessage.isInstance(reply)) break;
      answered.add(reply.tool_call_id);
    }
    const open = calls.filter((call) => !answered.has(call.id ?? ""));
    return [message, ...open.map((call) => notRun(call.name, call.id ?? ""))];
  });
  return fixed.length === messages.length ? messages : fixed;
}

function notRun(name: string, id: string): ToolMessage {
  const content =
    "Not finished: the run was interrupted before this call returned. Call it again if you still need it.";
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}
