import type { AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage } from "@langchain/core/messages";
import { filled, hiddenMessage } from "../text/index.ts";
import { changedArguments } from "./call-arguments.ts";
import { copyOf } from "./message-copies.ts";
import { isHeld, isInterrupted } from "./result-marks.ts";

/** Tools whose arguments are the text to write: a refused call of one has changed nothing. */
const WRITING = new Set(["write_file", "edit_file", "write_todos", "update_todos", "todo"]);

/** Shorter arguments are not replaced by a note. */
const SHORTEST = 300;

export const REFUSED_TEXTS = {
  cut: "[{count} characters, refused]",
  shown:
    "<system_reminder>What was refused is cut above. These are the arguments that you sent, to correct them:\n{calls}</system_reminder>",
} as const;

const copies = new WeakMap<AIMessage, { ids: string; copy: AIMessage }>();

/**
 * Replaces each long argument of a refused call by a note. The first request that has the call has the note already, so
 * the provider's cached prefix stays valid.
 */
export function withoutRefusedTexts(messages: readonly BaseMessage[]): BaseMessage[] {
  const refused = new Map<BaseMessage, string[]>();
  for (const { turn, result } of refusals(messages)) {
    refused.set(turn, [...(refused.get(turn) ?? []), result.tool_call_id]);
  }
  return messages.map((message) => {
    const ids = refused.get(message);
    return ids ? withNotes(message as AIMessage, ids, REFUSED_TEXTS.cut) : message;
  });
}

/**
 * A message for the end of one request, with the arguments of these tools' calls that were refused in the last turn, for
 * the model to correct. Those of the turn before are included unless the call was made again: a model may look at
 * something before it corrects. A write that was held back needs no correction.
 */
export function refusedCalls(messages: readonly BaseMessage[], tools: readonly string[]): HumanMessage[] {
  const last = messages.findLastIndex(isAnswer);
  const latest = (messages[last] as AIMessage | undefined)?.tool_calls ?? [];
  if (latest.length === 0) return [];
  const start = Math.max(0, messages.slice(0, last).findLastIndex(isAnswer));
  const calls = refusals(messages.slice(start)).flatMap(({ turn, result }) => {
    const { name = "", tool_call_id } = result;
    const call = turn.tool_calls?.find(({ id }) => id === tool_call_id);
    if (!call || !tools.includes(name) || isHeld(result) || !isLong(call)) return [];
    const isMadeAgain = turn !== messages[last] && latest.some((later) => isSameTarget(later, call));
    return isMadeAgain ? [] : [call];
  });
  if (calls.length === 0) return [];
  const list = calls.map(({ name, args }) => `${name} ${JSON.stringify(args)}`).join("\n");
  return [hiddenMessage({ name: "refused_calls", text: filled(REFUSED_TEXTS.shown, { calls: list }) })];
}

const isAnswer = ({ type }: BaseMessage): boolean => type === "ai";

function isSameTarget(one: ToolCall, other: ToolCall): boolean {
  return one.name === other.name && one.args["file_path"] === other.args["file_path"];
}

/** Recognizes a note of `withoutRefusedTexts` that a model has copied into an argument. */
export function isCutNote(text: unknown): boolean {
  return typeof text === "string" && /^\[\d+ characters, refused\]$/.test(text.trim());
}

function refusals(messages: readonly BaseMessage[]): { turn: AIMessage; result: ToolMessage }[] {
  let turn: AIMessage | undefined;
  return messages.flatMap((message) => {
    if (message.type === "ai") turn = message as AIMessage;
    return turn && isRefusal(message) ? [{ turn, result: message }] : [];
  });
}

function isRefusal(message: BaseMessage): message is ToolMessage {
  if (message.type !== "tool") return false;
  const { status, name = "" } = message as ToolMessage;
  return status === "error" && WRITING.has(name) && !isInterrupted(message as ToolMessage);
}

/** Replaces each long argument of some of a message's calls by a note. Idempotent. */
export function withNotes(message: AIMessage, calls: readonly string[], note: string): AIMessage {
  const ids = [...calls, note].join("\n");
  const cached = copies.get(message);
  if (cached?.ids === ids) return cached.copy;
  const fields = changedArguments(message, (call) =>
    calls.includes(call.id ?? "") && isLong(call)
      ? Object.fromEntries(Object.entries(call.args).map(([name, value]) => [name, noteFor(value, note)]))
      : undefined,
  );
  const copy = copyOf(message, fields);
  copies.set(message, { ids, copy });
  // Several middleware may process the copy again.
  copies.set(copy, { ids, copy });
  return copy;
}

function isLong({ args }: ToolCall): boolean {
  return Object.values(args).some((value) => lengthOf(value) >= SHORTEST);
}

function noteFor(value: unknown, note: string): unknown {
  const count = lengthOf(value);
  return count < SHORTEST ? value : filled(note, { count });
}

function lengthOf(value: unknown): number {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length;
}
