import type { AIMessage, BaseMessage } from "@langchain/core/messages";
import { attempt } from "../../../errors.ts";
import { mark, markOf, metadataOf } from "../../../marks.ts";
import { isOpen, type Change, type Issue, type Todo } from "../../../plan/index.ts";
import { repairJson } from "../../../plan/read/index.ts";
import { filled, hiddenMessage } from "../../text/index.ts";
import { setCalls } from "../../tools/index.ts";
import { BROKEN_CALL } from "./broken-calls.prompt.ts";
import { isCutOff } from "./final-answer.ts";

type ToolCall = NonNullable<AIMessage["tool_calls"]>[number];
type InvalidCall = NonNullable<AIMessage["invalid_tool_calls"]>[number];

/** The greatest depth of arguments. LangChain cannot read a checkpoint with more than 50 levels. */
const MAX_DEPTH = 32;
const TOO_DEEP = "nested too deep";

/**
 * Repairs calls to these tools whose arguments are almost JSON, and takes calls out that were cut off or are nested too
 * deep. Changes the message: LangChain keeps the model's message object, whatever a middleware returns next to a state
 * update.
 */
export function repairCalls(message: AIMessage, toolNames: readonly string[]): void {
  // First, as the others forget what was streamed.
  dropUnclosedCalls(message);
  takeInvalidBlocks(message);
  dropDeepCalls(message);
  if (!isCutOff(message)) repairJsonOfCalls(message, toolNames);
  dropBlocksOfUnread(message);
}

function repairJsonOfCalls(message: AIMessage, toolNames: readonly string[]): void {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
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
  mark(message, { repaired_calls: calls.map(({ id }) => id) });
  // Messages in this form carry their calls twice.
  if (metadataOf(message)["output_version"] !== "v1" || !Array.isArray(message.content)) return;
  const content = message.content.map((block) => calls.find(({ id }) => id === block["id"]) ?? block);
  const missing = calls.filter((call) => !content.includes(call));
  setCalls(message, { content: [...content, ...missing] as typeof message.content });
}

/** Copies the invalid calls that are only in the content: LangChain's `streamEvents` v3 makes such messages. */
function takeInvalidBlocks(message: AIMessage): void {
  const { invalid_tool_calls = [], content } = message;
  if (!Array.isArray(content)) return;
  const known = new Set(invalid_tool_calls.map(({ id }) => id));
  const missing = content.filter(({ type, id }) => type === "invalid_tool_call" && !known.has(id as string));
  if (missing.length > 0)
    setCalls(message, { invalid_tool_calls: [...invalid_tool_calls, ...(missing as InvalidCall[])] });
}

/**
 * Makes calls invalid whose arguments do not close. A stream closes their brackets and quotes by guessing, whatever the
 * reason for the end of the answer is. Only the text that the model sent shows it: without that text, the last call of
 * an answer that was cut off is invalid.
 */
function dropUnclosedCalls(message: AIMessage): void {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  const unclosed = tool_calls.filter((call) => !isWhole(call, message));
  if (unclosed.length === 0) return;
  setCalls(message, {
    tool_calls: tool_calls.filter((call) => !unclosed.includes(call)),
    invalid_tool_calls: [
      ...invalid_tool_calls,
      ...unclosed.map(({ id, name }) => ({ ...invalid(id, name), args: unclosedOf(id, message) })),
    ],
  });
}

/** Makes calls that are nested too deep invalid, without their arguments, which could not be saved. */
function dropDeepCalls(message: AIMessage): void {
  const { tool_calls = [], invalid_tool_calls = [] } = message;
  const deep = tool_calls.filter(({ args }) => isDeeper(args, MAX_DEPTH));
  if (deep.length === 0) return;
  setCalls(message, {
    tool_calls: tool_calls.filter((call) => !deep.includes(call)),
    invalid_tool_calls: [...invalid_tool_calls, ...deep.map(({ id, name }) => invalid(id, name, TOO_DEEP))],
  });
}

/**
 * Removes calls that could not be read from the content, where some providers repeat their calls: they refuse every
 * later request that has a call without a result.
 */
function dropBlocksOfUnread(message: AIMessage): void {
  const { tool_calls = [], invalid_tool_calls = [], content } = message;
  if (!Array.isArray(content)) return;
  const ids = new Set<unknown>(invalid_tool_calls.flatMap(({ id }) => id ?? []));
  for (const { id } of tool_calls) ids.delete(id);
  const kept = content.filter(({ type, id }) => type !== "invalid_tool_call" && !ids.has(id));
  if (kept.length < content.length) setCalls(message, { content: kept });
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
  const ids = markOf(message, "repaired_calls");
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

/**
 * Puts a reminder after the results of each message of which some calls could not be read. It is the same in each
 * request, so the provider's cached prefix stays valid.
 */
export function withUnreadCalls(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  let text: string | undefined;
  const told: BaseMessage[] = [];
  const tell = (): void => {
    if (text !== undefined)
      told.push(hiddenMessage({ name: "tool_call_reminder", text: `<${tag}>${text}</${tag}>` }));
    text = undefined;
  };
  for (const message of messages) {
    if (message.type !== "tool") tell();
    told.push(message);
    if (message.type === "ai" && (message as AIMessage).tool_calls?.length)
      text = describeUnread(message as AIMessage);
  }
  tell();
  return told;
}

/** The prompt after an answer with only unreadable calls; undefined for any other answer. */
function askForCalls(message: AIMessage): string | undefined {
  return message.tool_calls?.length ? undefined : describeUnread(message);
}

/** The calls of a message that could not be read, in words. Undefined if there are none. */
function describeUnread(message: AIMessage): string | undefined {
  const { invalid_tool_calls = [] } = message;
  if (invalid_tool_calls.length === 0) return undefined;
  const tools = [...new Set(invalid_tool_calls.map(({ name }) => name || "a tool"))].join(", ");
  const isDeep = invalid_tool_calls.every(({ error }) => error === TOO_DEEP);
  const fault = isDeep ? "deep" : isCutOff(message) ? "cut" : "malformed";
  const [broken] = invalid_tool_calls;
  return filled(BROKEN_CALL[fault], { tools, where: describeBreak(broken?.args ?? "") });
}

/** Where a text stops being JSON, in words; empty if it does not. A stream accepts raw line breaks in strings. */
function describeBreak(text: string): string {
  const at = breakOf(text.replaceAll(/[\n\r\t]/g, " ")) ?? breakOf(text);
  if (at === undefined || text.trim() === "") return "";
  if (at >= text.length) return `: they end at character ${text.length}, unclosed`;
  return `: they break at character ${at}, at ${JSON.stringify(text.slice(Math.max(0, at - 12), at + 12))}`;
}

/** The place at which a text stops being JSON; undefined if it does not. */
function breakOf(text: string): number | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const [, position] = /position (\d+)/.exec((error as Error).message) ?? [];
    return position === undefined ? text.length : Number(position);
  }
}

type Chunk = { id?: string; args?: string };

const chunksOf = (message: AIMessage): Chunk[] =>
  (message as { tool_call_chunks?: Chunk[] }).tool_call_chunks ?? [];

/** The parts of a stream with calls of an id. */
function chunksWith(id: string | undefined, message: AIMessage): Chunk[] {
  return chunksOf(message).filter((chunk) => chunk.id === id);
}

/** Whether the arguments of a call close. Models may give calls the same id: then all of them must. */
function isWhole(call: ToolCall, message: AIMessage): boolean {
  const { id, args } = call;
  const chunks = chunksWith(id, message);
  if (chunks.length === 0 && isCutOff(message) && !hasText(call, message)) return !isLast(call, message);
  return chunks.every((chunk) => {
    const { args: text = "" } = chunk;
    // A call without arguments may have none. Tools without a schema take their input as it is.
    if (text === "") return !isCutOff(message) || chunk !== chunksOf(message).at(-1);
    return text === args["input"] || isClosed(text);
  });
}

/** Whether a message has a call's arguments as the model sent them. LangChain then parsed them without guessing. */
function hasText({ id }: ToolCall, { additional_kwargs }: AIMessage): boolean {
  const raw: unknown = additional_kwargs["tool_calls"];
  return Array.isArray(raw) && (raw as Chunk[]).some((one) => one.id === id);
}

/** Whether an answer ends with a call. */
function isLast({ id }: ToolCall, { content, tool_calls = [] }: AIMessage): boolean {
  const ids = Array.isArray(content) ? content.map((block) => block["id"] as unknown) : [];
  return (ids.includes(id) ? ids : tool_calls.map((call) => call.id)).at(-1) === id;
}

/** The first text of a call's arguments that does not close; empty if there is none. */
function unclosedOf(id: string | undefined, message: AIMessage): string {
  return chunksWith(id, message).find(({ args = "" }) => !isClosed(args))?.args ?? "";
}

/** Whether all brackets and quotes of an almost JSON text close. */
function isClosed(text: string): boolean {
  if (attempt((): unknown => JSON.parse(text)) !== undefined) return true;
  let depth = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) at += character === "\\" ? 1 : 0;
    else if ("{[".includes(character)) depth++;
    else if ("}]".includes(character)) depth--;
  }
  return !isQuoted && depth <= 0;
}

function invalid(id: string | undefined, name: string, error = "cut off"): InvalidCall {
  return { type: "invalid_tool_call", name, error, ...(id !== undefined && { id }) };
}

/** The ids of all calls in the model's order, if its client provides it. */
function idsInOrder(message: AIMessage): (string | undefined)[] {
  const raw: unknown = message.additional_kwargs["tool_calls"];
  if (Array.isArray(raw)) return (raw as Chunk[]).map(({ id }) => id);
  const chunks = chunksOf(message);
  const { content } = message;
  return (chunks.length === 0 && Array.isArray(content) ? (content as Chunk[]) : chunks).map(({ id }) => id);
}
