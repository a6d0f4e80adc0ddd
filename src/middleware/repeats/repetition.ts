import { dispatchCustomEvent } from "@langchain/core/callbacks/dispatch";
import { ToolMessage, type ToolCall } from "@langchain/core/messages";
import type { StoppedCall, Unended } from "../../langgraph/index.ts";
import { filled } from "../text/index.ts";
import { UNFINISHED } from "../tools/index.ts";
import { REPEAT_TEXTS } from "./repeats.prompt.ts";

/** The configurable in which a tool finds the ids of calls that may be repetitions. */
const KEY = "holdfast_repetitions";

/** The fields that are used of LangChain's tool runtime. */
export interface RepeatedRuntime {
  configurable?: Record<string, unknown> | undefined;
  toolCallId?: string | undefined;
  toolCall?: { id?: string | undefined } | undefined;
}

/**
 * Whether the call that a tool is answering may have been carried out before: it was under way when an earlier process
 * was stopped. Takes what LangChain hands to a tool as its second argument. The call's id is the same as then, in
 * `toolCallId`: a key by which a service can tell that it has done the work already.
 */
export function isRepetition(runtime: unknown): boolean {
  const { configurable, toolCallId, toolCall } = (runtime ?? {}) as RepeatedRuntime;
  const ids = configurable?.[KEY];
  return Array.isArray(ids) && ids.includes(toolCallId ?? toolCall?.id);
}

/** Lets the tool know. LangChain hands a task's own configurable to it. */
export function markRepetition({ id }: ToolCall, configurable: Record<string, unknown> | undefined): void {
  if (!configurable) return;
  const ids = configurable[KEY];
  configurable[KEY] = [...(Array.isArray(ids) ? (ids as unknown[]) : []), id];
}

/** The custom event of LangChain's callbacks that says a call may be a repetition. */
export const CALL_REPETITION = "call-repetition";

/** Details of that event. */
export interface CallRepetition {
  call: string;
  name: string;
  args: Record<string, unknown>;
  /** The answer to the model in its place; absent if it is run. */
  answer?: string;
}

export async function tellRepetition({ id = "", name, args }: ToolCall, answer?: string): Promise<void> {
  const event: CallRepetition = { call: id, name, args, ...(answer !== undefined && { answer }) };
  // Fails outside of a run, where nobody listens.
  await dispatchCustomEvent(CALL_REPETITION, event).catch(() => {});
}

/** The progress of a call when its run was stopped, in words. */
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
  const known = repeated?.stopped ? `\n${ranText(repeated.stopped)}` : "";
  const content = `${filled(REPEAT_TEXTS.unknown, { name })}${known}`;
  await tellRepetition(call, content);
  return new ToolMessage({ content, status: "error", name, tool_call_id: id, artifact: UNFINISHED });
}
