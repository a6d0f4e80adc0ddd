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

/**
 * Stops a model that makes the same tool calls over and over: first a warning, then an honest end of the run. Going
 * round in circles of two or three turns counts too, with twice the patience: waiting and looking again is work.
 */
export function loopGuardMiddleware({ warnAfter = 3, stopAfter = 5 }: LoopGuardOptions = {}) {
  return createMiddleware({
    name: "LoopGuardMiddleware",
    wrapModelCall: async (request, handler) => {
      const { next, count, patience } = repeated(request.state.messages);
      const isWarned = count >= warnAfter * patience;
      const messages = isWarned ? [...request.messages, warning(count)] : request.messages;
      const answer = await handler({ ...request, messages });
      const isStopped = count + 1 >= stopAfter * patience && AIMessage.isInstance(answer);
      if (!isStopped || signature(answer) !== next) return answer;
      const content = LOOP_STOP.replaceAll("{count}", String(count + 1)).replaceAll("{calls}", () =>
        names(answer),
      );
      return new AIMessage({ content, response_metadata: { finish_reason: LOOP_FINISH_REASON } });
    },
  });
}

/** The turns after which a circle may begin anew. */
const PERIODS = [1, 2, 3];

interface Circle {
  /** The calls with which it would go on. */
  next: string | undefined;
  /** How many times in a row it was gone round. */
  count: number;
  patience: number;
}

/** The circle that the latest tool calls since the user's last message make, the most often gone round first. */
function repeated(messages: readonly BaseMessage[]): Circle {
  const start = messages.findLastIndex((message) => isFromUser(message));
  const made = messages
    .slice(start + 1)
    .flatMap((message) => (AIMessage.isInstance(message) ? (signature(message) ?? []) : []));
  const circles = PERIODS.map((period): Circle => {
    const count = timesRound(made, period);
    return { next: made.at(-period), count, patience: period === 1 ? 1 : 2 };
  });
  return circles.reduce((most, circle) => (circle.count > most.count ? circle : most));
}

/** How many times in a row the last `period` turns were made. */
function timesRound(made: readonly string[], period: number): number {
  const other = made.findLastIndex((calls, at) => calls !== made[at + period] && at + period < made.length);
  return Math.floor((made.length - 1 - other) / period);
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
