import type { AIMessage } from "@langchain/core/messages";
import { attempt } from "../../../errors.ts";
import { isOpen, type Change, type Issue, type Todo } from "../../../plan/index.ts";
import { repairJson } from "../../../plan/read/index.ts";
import { filled } from "../../text/index.ts";
import { setCalls } from "../../tools/index.ts";
import { BROKEN_CALL } from "./broken-calls.prompt.ts";
import { isCutOff } from "./final-answer.ts";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];

/** The greatest depth of arguments. LangChain cannot read a checkpoint with more than 50 levels. */
const MAX_DEPTH = 32;
const TOO_DEEP = "nested too deep";

/** The key in `additional_kwargs` for the ids of calls whose arguments were repaired. */
const REPAIRED = "repaired_calls";

/**
 * Repairs calls to these tools whose arguments are almost JSON, and takes calls out that were cut off or are nested too
 * deep. Changes the message: LangChain keeps the model's message object, whatever a middleware returns beside a state
 * update.
 */
export function repairCalls(message: AIMessage, toolNames: readonly string[]): void {
  dropDeepCalls(message);
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  if (isCutOff(message)) {
    const truncated = tool_calls.filter((call) => isTruncated(call, message));
    if (truncated.length === 0) return;
    setCalls(message, {
      tool_calls: tool_calls.filter((call) => !truncated.includes(call)),
      invalid_tool_calls: [...invalid_tool_calls, ...truncated.map(({ id, name }) => invalid(id, name))],
    });
    return;
  }
  const repaired = new Map<object, ToolCall>();
  for (const call of invalid_tool_calls) {
    const { name = "", args = "", id = `call_${crypto.randomUUID()}` } = call;
    const value = toolNames.includes(name) ? repairJson(args) : undefined;
    if (value) repaired.set(call, { type: "tool_call", id, name, args: value });
  }
  if (repaired.size === 0) return;
  const calls = [...repaired.values()];
  const order = idsInOrder(message);
  const place = ({ id }: ToolCall): number => order.indexOf(id ?? "");
  setCalls(message, {
    tool_calls: [...tool_calls, ...calls].toSorted((a, b) => place(a) - place(b)),
    invalid_tool_calls: invalid_tool_calls.filter((call) => !repaired.has(call)),
  });
  message.additional_kwargs[REPAIRED] = calls.map(({ id }) => id);
  // Messages in this form carry their calls twice.
  const isV1 = message.response_metadata["output_version"] === "v1" && Array.isArray(message.content);
  if (isV1) message.content = [...(message.content as object[]), ...calls] as typeof message.content;
}

/** Makes calls that are nested too deep invalid, without their arguments, which could not be saved. */
function dropDeepCalls(message: AIMessage): void {
  const { tool_calls = [], invalid_tool_calls = [], content } = message;
  const deep = tool_calls.filter(({ args }) => isDeeper(args, MAX_DEPTH));
  if (deep.length === 0) return;
  const ids = new Set(deep.map(({ id }) => id));
  const isKept = (block: { id?: unknown }): boolean => !ids.has(block.id as string);
  setCalls(message, {
    tool_calls: tool_calls.filter((call) => !deep.includes(call)),
    invalid_tool_calls: [...invalid_tool_calls, ...deep.map(({ id, name }) => invalid(id, name, TOO_DEEP))],
    // Some providers repeat their calls in the content.
    content: Array.isArray(content) ? content.filter(isKept) : content,
  });
}

/** Whether a value has more levels than `limit`. Without recursion, which such a value could overflow. */
function isDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; depth <= limit; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/** Whether the arguments of this call were repaired. */
export function isRepaired(call: ToolCall, message: AIMessage | undefined): boolean {
  const ids = message?.additional_kwargs[REPAIRED];
  return Array.isArray(ids) && ids.includes(call.id);
}

/** The issue of a repaired list that drops open items: the repair may have lost them. */
export function lossInRepair(
  name: string,
  before: readonly Todo[],
  changes: readonly Change[],
): Issue | undefined {
  const removed = changes.flatMap((change) => {
    const isDropped =
      change.type === "todo-status" ? change.to === "cancelled" : change.type === "todo-remove";
    return isDropped ? (change as { id: string }).id : [];
  });
  const open = before.filter((todo) => isOpen(todo) && removed.includes(todo.id));
  if (open.length === 0) return undefined;
  const ids = open.map((todo) => todo.id).join(", ");
  const message = `The arguments were not valid JSON, and what could be read of them would drop ${ids}. Call ${name} again with the complete list.`;
  return { rule: "arguments", field: name, sent: ids, valid: "valid JSON", message };
}

const MAX_UNREAD = 2;

/** Counts the answers to one request whose calls could not be read. */
export class UnreadCalls {
  #inARow = 0;

  /** The prompt that asks the model again; undefined if nothing is wrong, or after `MAX_UNREAD` times in a row. */
  ask(message: AIMessage): string | undefined {
    const text = askForCalls(message);
    this.#inARow = text === undefined ? 0 : this.#inARow + 1;
    return this.#inARow > MAX_UNREAD ? undefined : text;
  }
}

/** The prompt after an answer with only unreadable calls; undefined for any other answer. */
function askForCalls(message: AIMessage): string | undefined {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  if (tool_calls.length > 0 || invalid_tool_calls.length === 0) return undefined;
  const tools = [...new Set(invalid_tool_calls.map(({ name }) => name || "a tool"))].join(", ");
  const isDeep = invalid_tool_calls.every(({ error }) => error === TOO_DEEP);
  const fault = isDeep ? "deep" : isCutOff(message) ? "cut" : "malformed";
  const [broken] = invalid_tool_calls;
  return filled(BROKEN_CALL[fault], { tools, where: describeBreak(broken?.args ?? "") });
}

/** Where a text stops being JSON, in words; empty if it does not. */
function describeBreak(text: string): string {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    if (text.trim() === "") return "";
    const [, position] = /position (\d+)/.exec((error as Error).message) ?? [];
    const at = position === undefined ? text.length : Number(position);
    if (at >= text.length) return `: they end at character ${text.length}, unclosed`;
    return `: they break at character ${at}, at ${JSON.stringify(text.slice(Math.max(0, at - 12), at + 12))}`;
  }
}

type Chunk = { id?: string; args?: string };

const chunksOf = (message: AIMessage): Chunk[] =>
  (message as { tool_call_chunks?: Chunk[] }).tool_call_chunks ?? [];

/** Whether a call was cut off. A stream closes the brackets of its arguments; only their text shows the cut. */
function isTruncated({ id }: ToolCall, message: AIMessage): boolean {
  const text = chunksOf(message).find((chunk) => chunk.id === id)?.args;
  return !!text && attempt((): unknown => JSON.parse(text)) === undefined;
}

function invalid(
  id: string | undefined,
  name: string,
  error = "cut off",
): NonNullable<AIMessage["invalid_tool_calls"]>[number] {
  return { type: "invalid_tool_call", name, error, ...(id !== undefined && { id }) };
}

/** The ids of all calls in the model's order, if its client provides it. */
function idsInOrder(message: AIMessage): (string | undefined)[] {
  const raw: unknown = message.additional_kwargs["tool_calls"];
  return (Array.isArray(raw) ? (raw as Chunk[]) : chunksOf(message)).map(({ id }) => id);
}
