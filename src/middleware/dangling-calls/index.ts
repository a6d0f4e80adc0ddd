import { ToolMessage, type AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/**
 * Puts each tool result right behind its call, answers calls that nobody answered, and leaves out results without a
 * call, as they come about when a run is interrupted and goes on with new input: providers refuse such a
 * conversation. The request is repaired, the state stays as it is.
 */
export function danglingCallsMiddleware() {
  return createMiddleware({
    name: "DanglingCallsMiddleware",
    wrapModelCall: (request, handler) => handler({ ...request, messages: paired(request.messages) }),
  });
}

/** The calls of one message that wait for a result, and the results that came, late ones too. */
interface Turn {
  open: Set<ToolCall>;
  results: BaseMessage[];
}

/** The messages with every call followed by one result; the very same list where that is so already. */
export function paired(messages: BaseMessage[]): BaseMessage[] {
  const parts: (BaseMessage | Turn)[] = [];
  // By id, the latest last: some models use their call ids again.
  const waiting = new Map<string, { turn: Turn; call: ToolCall }[]>();
  for (const message of messages) {
    // A long thread may pass here: `isInstance` would ask much of each message.
    if (message.type === "tool") {
      const asked = waiting.get((message as ToolMessage).tool_call_id)?.pop();
      asked?.turn.results.push(message);
      asked?.turn.open.delete(asked.call);
      continue;
    }
    parts.push(message);
    const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
    if (calls.length === 0) continue;
    const turn: Turn = { open: new Set(calls), results: [] };
    parts.push(turn);
    for (const call of calls.toReversed()) {
      const { id = "" } = call;
      waiting.set(id, [...(waiting.get(id) ?? []), { turn, call }]);
    }
  }
  const fixed = parts.flatMap((part) =>
    "open" in part ? [...part.results, ...[...part.open].map(notRun)] : part,
  );
  const isWhole = fixed.length === messages.length && fixed.every((message, at) => message === messages[at]);
  return isWhole ? messages : fixed;
}

function notRun({ name, id = "" }: ToolCall): ToolMessage {
  const content =
    "Not finished: the run was interrupted before this call returned, and may have carried it out. If you still need it, find that out before you call it again.";
  return new ToolMessage({ content, status: "error", name, tool_call_id: id });
}
