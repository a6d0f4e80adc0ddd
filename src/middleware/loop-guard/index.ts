import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { isFromUser } from "../from-user.ts";
import { LOOP_STOP, LOOP_WARNING } from "./loop-guard.prompt.ts";

/** Options of `loopGuardMiddleware`. */
export interface LoopGuardOptions {
  /** The same tool calls so many times in a row: the model is warned. Default 3. */
  warnAfter?: number;
  /** So many times: the run ends. Default 5. */
  stopAfter?: number;
}

/** What the message that ends a looping run has as its finish reason; the plan's exit guard respects it. */
export const LOOP_FINISH_REASON = "loop_guard";

/** Stops a model that makes the same tool calls over and over: first a warning, then an honest end of the run. */
export function loopGuardMiddleware({ warnAfter = 3, stopAfter = 5 }: LoopGuardOptions = {}) {
  return createMiddleware({
    name: "LoopGuardMiddleware",
    wrapModelCall: async (request, handler) => {
      const { last, count } = repeated(request.state.messages);
      const messages = count >= warnAfter ? [...request.messages, warning(count)] : request.messages;
      const answer = await handler({ ...request, messages });
      if (!AIMessage.isInstance(answer) || count + 1 < stopAfter || signature(answer) !== last) return answer;
      const content = LOOP_STOP.replaceAll("{count}", String(count + 1)).replaceAll("{calls}", () =>
        names(answer),
      );
      return new AIMessage({ content, response_metadata: { finish_reason: LOOP_FINISH_REASON } });
    },
  });
}

/** The latest tool calls since the user's last message, and how many times in a row they were made. */
function repeated(messages: readonly BaseMessage[]): { last: string | undefined; count: number } {
  const start = messages.findLastIndex((message) => isFromUser(message));
  const made = messages
    .slice(start + 1)
    .flatMap((message) => (AIMessage.isInstance(message) ? (signature(message) ?? []) : []));
  const last = made.at(-1);
  const other = made.findLastIndex((calls) => calls !== last);
  return { last, count: last === undefined ? 0 : made.length - 1 - other };
}

/** What a message calls, whatever the order of the calls and of their arguments. */
function signature(message: AIMessage): string | undefined {
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return undefined;
  return calls
    .map((call) => `${call.name} ${ordered(call.args)}`)
    .toSorted()
    .join("\n");
}

function ordered(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function names(message: AIMessage): string {
  return [...new Set((message.tool_calls ?? []).map((call) => call.name))].join(", ");
}

function warning(count: number): HumanMessage {
  const content = `<system_reminder>${LOOP_WARNING.replaceAll("{count}", String(count))}</system_reminder>`;
  return new HumanMessage({ content, name: "loop_warning", additional_kwargs: { hide_from_ui: true } });
}
