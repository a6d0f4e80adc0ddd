import type { AIMessage, BaseMessage, ToolCall, ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { errorResult } from "../tools/index.ts";

/**
 * Puts each tool result directly after its call, adds a result to calls without one, and removes results without a call.
 * Providers refuse other conversations, which arise when a run is interrupted and continues with new input. Repairs the
 * request, not the state.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { danglingCallsMiddleware } from "holdfast";
 *
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [danglingCallsMiddleware()] });
 * ```
 */
export function danglingCallsMiddleware() {
  return createMiddleware({
    name: "DanglingCallsMiddleware",
    wrapModelCall: (request, handler) => handler({ ...request, messages: paired(request.messages) }),
  });
}

/** The calls of one message that have no result yet, and the results of the others, also late ones. */
interface MessageWithResults {
  open: Set<ToolCall>;
  results: BaseMessage[];
}

/** The messages with one result for every call; the same array if nothing had to change. */
export function paired(messages: BaseMessage[]): BaseMessage[] {
  const parts: (BaseMessage | MessageWithResults)[] = [];
  // Open calls by id, the latest last: some models reuse call ids.
  const openCalls = new Map<string, { turn: MessageWithResults; call: ToolCall }[]>();
  for (const message of messages) {
    // `isInstance` is too slow for every message of a long thread.
    if (message.type === "tool") {
      const match = openCalls.get((message as ToolMessage).tool_call_id)?.pop();
      match?.turn.results.push(message);
      match?.turn.open.delete(match.call);
      continue;
    }
    parts.push(message);
    const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
    if (calls.length === 0) continue;
    const turn: MessageWithResults = { open: new Set(calls), results: [] };
    parts.push(turn);
    for (const call of calls.toReversed()) {
      const { id = "" } = call;
      openCalls.set(id, [...(openCalls.get(id) ?? []), { turn, call }]);
    }
  }
  const repaired = parts.flatMap((part) =>
    "open" in part
      ? [...part.results, ...[...part.open].map((call) => errorResult(call, NOT_FINISHED))]
      : part,
  );
  const isUnchanged =
    repaired.length === messages.length && repaired.every((message, at) => message === messages[at]);
  return isUnchanged ? messages : repaired;
}

const NOT_FINISHED =
  "Not finished: the run was interrupted before this call returned, and may have carried it out. If you still need it, find that out before you call it again.";
