import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { changedArguments } from "../../tools/call-arguments.ts";
import { isHeld, isUnfinished } from "../../tools/result-marks.ts";
import { CLEARED_TEXTS } from "../summary.prompt.ts";
import { filled } from "./user-words.ts";

/** Tools whose arguments are what is to be written: a refused call of them has left nothing behind. */
const WRITING = new Set(["write_file", "edit_file", "write_todos", "update_todos", "todo"]);

/** Shorter arguments are not worth a line in their place. */
const SHORTEST = 300;

const copies = new WeakMap<AIMessage, { ids: string; copy: AIMessage }>();

/**
 * The messages with a line in the place of each long argument of a call that was refused, up to an index: until then a
 * model may send the call again with what was wrong put right. The same messages give the same lines.
 */
export function withoutRefusedTexts(messages: readonly BaseMessage[], end: number): BaseMessage[] {
  const refused = new Map<BaseMessage, string[]>();
  let turn: BaseMessage | undefined;
  for (const message of messages.slice(0, end + 1)) {
    if (AIMessage.isInstance(message)) turn = message;
    if (turn && isRefusal(message)) refused.set(turn, [...(refused.get(turn) ?? []), message.tool_call_id]);
  }
  return messages.map((message) => {
    const ids = refused.get(message);
    return ids ? cut(message as AIMessage, ids) : message;
  });
}

function isRefusal(message: BaseMessage): message is ToolMessage {
  if (!ToolMessage.isInstance(message) || message.status !== "error") return false;
  // A write that was held back is cut elsewhere, from the first request on.
  return WRITING.has(message.name ?? "") && !isHeld(message) && !isUnfinished(message);
}

function cut(message: AIMessage, refused: readonly string[]): AIMessage {
  const ids = refused.join("\n");
  const known = copies.get(message);
  if (known?.ids === ids) return known.copy;
  const fields = changedArguments(message, ({ id = "", args }) =>
    refused.includes(id)
      ? Object.fromEntries(Object.entries(args).map(([name, value]) => [name, lineFor(value)]))
      : undefined,
  );
  const copy = Object.create(Object.getPrototypeOf(message) as object) as AIMessage;
  Object.assign(copy, message, fields);
  copies.set(message, { ids, copy });
  return copy;
}

function lineFor(value: unknown): unknown {
  const count = (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).length;
  return count < SHORTEST ? value : filled(CLEARED_TEXTS.refused, { count });
}
