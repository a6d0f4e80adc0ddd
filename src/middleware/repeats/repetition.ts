import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { StoppedCall, Unended } from "../../langgraph/index.ts";
import { CONFIG } from "../../marks.ts";
import { filled } from "../text/index.ts";
import { UNFINISHED } from "../tools/index.ts";
import { REPEAT_TEXTS } from "./repeats.prompt.ts";

/** The fields of LangChain's tool runtime that are used here. */
interface RepeatedRuntime {
  configurable?: Record<string, unknown>;
  toolCallId?: string;
  toolCall?: { id?: string };
}

/**
 * Whether the call that a tool is answering may have been run before: it was running when an earlier process was
 * stopped. `runtime` is the second argument of a LangChain tool. Its `toolCallId` is the same as then, and can serve as
 * an idempotency key.
 *
 * @example
 * ```ts
 * import { tool } from "langchain";
 * import { isRepetition } from "holdfast";
 * import { z } from "zod";
 *
 * const pay = tool((_, call) => (isRepetition(call) ? "Check whether it was paid." : "Paid."), {
 *   name: "pay",
 *   schema: z.object({}),
 * });
 * ```
 */
export function isRepetition(runtime: unknown): boolean {
  const { configurable, toolCallId, toolCall } = (runtime ?? {}) as RepeatedRuntime;
  const ids = configurable?.[CONFIG.repetitions];
  return Array.isArray(ids) && ids.includes(toolCallId ?? toolCall?.id);
}

/** Notes in the configurable, which the tool gets, that a call may be a repetition. */
export function markRepetition({ id }: ToolCall, configurable: Record<string, unknown> | undefined): void {
  if (!configurable) return;
  const ids = configurable[CONFIG.repetitions];
  configurable[CONFIG.repetitions] = [...(Array.isArray(ids) ? (ids as unknown[]) : []), id];
}

/** A custom event of LangChain's callbacks: a call may be a repetition. */
export const CALL_REPETITION = "call-repetition";

/** The data of a `CALL_REPETITION` event. */
export interface CallRepetition {
  call: string;
  name: string;
  args: Record<string, unknown>;
  /** The answer that the model got instead; absent if the call is run. */
  answer?: string;
}

export async function tellRepetition({ id = "", name, args }: ToolCall, answer?: string): Promise<void> {
  const event: CallRepetition = { call: id, name, args, ...(answer !== undefined && { answer }) };
  // Dispatching fails outside of a run.
  await dispatchCustomEvent(CALL_REPETITION, event).catch(() => {});
}

/** Describes how far a call was when its run was stopped. */
export function ranText(stopped: StoppedCall | undefined): string {
  if (!stopped) return REPEAT_TEXTS.begun;
  const { ran, printed } = stopped;
  const time = ran < 1000 ? `${ran} ms` : `${Math.round(ran / 1000)} s`;
  const text = printed === undefined ? REPEAT_TEXTS.ran : REPEAT_TEXTS.printed;
  return filled(text, { time, printed: printed ?? "" });
}

/** The answer to the model about a call whose outcome is unknown. */
export async function unknownOutcome(call: ToolCall, repeated?: Unended): Promise<ToolMessage> {
  const { id = "", name } = call;
  const progress = repeated?.stopped ? `\n${ranText(repeated.stopped)}` : "";
  const content = `${filled(REPEAT_TEXTS.unknown, { name })}${progress}`;
  await tellRepetition(call, content);
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, artifact: UNFINISHED });
}
