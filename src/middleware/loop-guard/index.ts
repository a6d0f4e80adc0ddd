import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { z } from "zod";
import { filled, isFromUser, reminderMessage } from "../text/index.ts";
import { LOOP_STOP, LOOP_WARNING } from "./loop-guard.prompt.ts";

/** Options of `loopGuardMiddleware`. */
export interface LoopGuardOptions {
  /** The number of identical turns in a row after which the model is warned. Default 3. */
  warnAfter?: number;
  /** The number of identical turns in a row after which the run ends. Default 5. */
  stopAfter?: number;
  /** Milliseconds to wait before a model call after the warning; doubles each time. Default 1000. */
  waitMs?: number;
  /** Tools that may be repeated without limit, such as `{ job_status: false }`. */
  tools?: Readonly<Record<string, false>>;
}

/** The finish reason of the message that ends a looping run; with it the plan's exit guard sends no reminder. */
export const LOOP_FINISH_REASON = "loop_guard";

/**
 * Stops a model that repeats the same tool calls with the same results: first with a warning and a pause, then by ending
 * the run. Cycles of two or three turns count, too, with limits twice as high. Different results are progress.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { loopGuardMiddleware } from "holdfast";
 *
 * const guard = loopGuardMiddleware({ warnAfter: 2, stopAfter: 4, tools: { job_status: false } });
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware: [guard] });
 * ```
 */
export function loopGuardMiddleware({
  warnAfter = 3,
  stopAfter = 5,
  waitMs = 1000,
  tools = {},
}: LoopGuardOptions = {}) {
  const isFree = (name: string): boolean => Object.hasOwn(tools, name);
  return createMiddleware({
    name: "LoopGuardMiddleware",
    wrapModelCall: async (request, handler) => {
      const { next, count, patience } = latestCycle(request.state.messages, isFree);
      const isWarned = count >= warnAfter * patience;
      if (isWarned && waitMs > 0)
        await pause(waitMs * 2 ** (count - warnAfter * patience), request.runtime.signal);
      const warning = (): BaseMessage => reminderMessage("loop_warning", filled(LOOP_WARNING, { count }));
      const messages = isWarned ? [...request.messages, warning()] : request.messages;
      const answer = await handler({ ...request, messages });
      const isStopped = count + 1 >= stopAfter * patience && AIMessage.isInstance(answer);
      if (!isStopped || callsOf(answer) !== next) return answer;
      const content = filled(LOOP_STOP, { count: count + 1, calls: toolNames(answer) });
      return new AIMessage({ content, response_metadata: { finish_reason: LOOP_FINISH_REASON } });
    },
  });
}

/** The lengths of cycles, in turns. */
const PERIODS = [1, 2, 3];

interface Cycle {
  /** The calls that would continue it. */
  next: string | undefined;
  /** The number of repetitions in a row. */
  count: number;
  /** The factor for its limits. */
  patience: number;
}

/** The cycle in the latest tool calls since the user's last message that is nearest to its limit. */
function latestCycle(messages: readonly BaseMessage[], isFree: (name: string) => boolean): Cycle {
  const turns = latestTurns(messages, isFree);
  const cycles = PERIODS.map((period): Cycle => {
    const last = turns[period - 1];
    const next = last && callsOf(last.message);
    return { next, count: repetitions(turns, period), patience: period === 1 ? 1 : 2 };
  });
  return cycles.reduce((most, one) => (one.count / one.patience > most.count / most.patience ? one : most));
}

/** The number of repetitions in a row of the last `period` turns. */
function repetitions(turns: readonly ToolTurn[], period: number): number {
  const end = turns.findIndex((turn, at) => at >= period && !hasSameResults(turn, turns[at - period]!));
  return Math.floor((end < 0 ? turns.length : end) / period);
}

/** Compares calls first: results are long, and most turns differ. */
function hasSameResults(one: ToolTurn, other: ToolTurn): boolean {
  return callsOf(one.message) === callsOf(other.message) && resultsOf(one) === resultsOf(other);
}

function resultsOf({ replies }: ToolTurn): string {
  return hash(replies.map(({ text }) => text).toSorted());
}

/** A turn with tool calls, and the results that followed it. */
interface ToolTurn {
  message: AIMessage;
  replies: readonly BaseMessage[];
}

/** The turns since the user's last message, or since a turn with free tools only, newest first. */
function latestTurns(messages: readonly BaseMessage[], isFree: (name: string) => boolean): ToolTurn[] {
  const turns: ToolTurn[] = [];
  let replies: BaseMessage[] = [];
  for (const message of messages.slice(messages.findLastIndex(isFromUser) + 1).toReversed()) {
    if (message.type === "tool") replies.push(message);
    const calls = message.type === "ai" ? ((message as AIMessage).tool_calls ?? []) : [];
    if (calls.length === 0) continue;
    if (calls.every(({ name }) => isFree(name))) break;
    turns.push({ message: message as AIMessage, replies });
    replies = [];
  }
  return turns;
}

/** Signatures by message: every model call needs those of the whole thread. */
const signatures = new WeakMap<AIMessage, string>();

/** A signature of a message's calls, independent of the order of calls and arguments. */
function callsOf(message: AIMessage): string | undefined {
  const calls = message.tool_calls ?? [];
  if (calls.length === 0) return undefined;
  const signature =
    signatures.get(message) ?? hash(calls.map((call) => `${call.name} ${sortedJson(call.args)}`).toSorted());
  signatures.set(message, signature);
  return signature;
}

function hash(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("base64");
}

function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

function toolNames(message: AIMessage): string {
  return [...new Set((message.tool_calls ?? []).map((call) => call.name))].join(", ");
}

/** Waits; throws when the run is aborted. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await setTimeout(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw error;
  });
}

const times = z.number().min(1, "must be at least 1");

/** The schema of `LoopGuardOptions`, or `false` for no loop guard. */
export const LOOP_GUARD = z.union([
  z.literal(false),
  z
    .strictObject({
      warnAfter: times,
      stopAfter: times,
      waitMs: z.number().min(0),
      tools: z.record(z.string(), z.literal(false)),
    } satisfies Record<keyof LoopGuardOptions, z.ZodType>)
    .partial(),
]);
