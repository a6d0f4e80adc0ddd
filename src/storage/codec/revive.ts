import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  FunctionMessageChunk,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
  type BaseMessage,
} from "@langchain/core/messages";
import { DeltaSnapshot } from "@langchain/langgraph-checkpoint";
import { attempt } from "../../errors.ts";

/** Marks a text that only LangChain's asynchronous `load` can read. */
export const NEEDS_LOAD = Symbol("needs load");

type Json = Record<string, unknown>;
type MessageClass = (new (fields: Json) => BaseMessage) & { prototype: { lc_aliases: object } };

/** Returns a new copy of a value on each call. */
export type Reviver = () => unknown;

const MESSAGE = '{"lc":1,"type":"constructor","id":["langchain_core","messages","';

/**
 * Reads the text that LangGraph's serializer writes, with the same result, synchronously and ten times as fast. Returns
 * `NEEDS_LOAD` for values that are left to the serializer.
 */
export function reviver(text: string): Reviver | typeof NEEDS_LOAD {
  const Message = text.startsWith(MESSAGE) ? CLASSES.get(classIn(text)) : undefined;
  const message = Message && messageReviver(text, Message);
  if (message) return message;
  if (text.includes('"lc":1') || text.includes('"__proto__":')) return NEEDS_LOAD;
  if (text.includes('"lc":2')) return () => revive(JSON.parse(text));
  const value: unknown = JSON.parse(text);
  return () => copy(value);
}

/** Whether a text is a message that can be read synchronously. */
export function isPlainMessage(text: string): boolean {
  if (!text.startsWith(MESSAGE)) return false;
  // Most messages have no special key, so they need not be parsed.
  if (CLASSES.has(classIn(text)) && !SPECIAL_KEY.test(text.slice(MESSAGE.length))) return true;
  return reviver(text) !== NEEDS_LOAD;
}

function classIn(text: string): string {
  return text.slice(MESSAGE.length, text.indexOf('"', MESSAGE.length));
}

function messageReviver(text: string, { create: Message, names }: ClassInfo): Reviver | undefined {
  const kwargs = kwargsIn(text);
  if (!kwargs) return undefined;
  const fields: Json = {};
  for (const key in kwargs) fields[names.get(key) ?? camelCase(key)] = kwargs[key];
  const inner = Object.keys(fields).filter((key) => typeof fields[key] === "object");
  return () => {
    // A constructor may change its argument.
    const copied = { ...fields };
    for (const key of inner) copied[key] = copy(fields[key]);
    return new Message(copied);
  };
}

/** The constructor argument of a message; undefined where LangChain would find more than plain values in it. */
function kwargsIn(text: string): Json | undefined {
  const { kwargs } = JSON.parse(text) as { kwargs: Json };
  if (isPlain(kwargs)) return kwargs;
  const defined: Json = {};
  for (const key in kwargs) if (!isUndefined(kwargs[key])) defined[key] = kwargs[key];
  if (!Object.hasOwn(kwargs, "__proto__") && isPlain(defined)) return defined;
  if (/"lc":1|"__lc_escaped__":|"__proto__":/.test(text.slice(MESSAGE.length))) return undefined;
  // The serializer revives the inner values of a message, and serializes it again before it loads it.
  return JSON.parse(JSON.stringify(revive(defined))) as Json;
}

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const key in value) if (SPECIAL_KEYS.has(key) || !isPlain((value as Json)[key])) return false;
  return true;
}

const SPECIAL_KEYS = new Set(["lc", "__lc_escaped__", "__proto__"]);
const SPECIAL_KEY = /"(?:lc|__lc_escaped__|__proto__)":/;

function isUndefined(value: unknown): boolean {
  const { lc, type } = (value ?? {}) as Json;
  return lc === 2 && type === "undefined";
}

/** The name of a constructor's argument, as `load` derives it from an unknown key. */
function camelCase(key: string): string {
  const name = key.trim();
  if (!/[-_\s]/.test(name)) return name;
  const words = name.replaceAll(/[-_\s]+/g, "_").toLowerCase();
  return words.replaceAll(/_+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

interface ClassInfo {
  create: MessageClass;
  /** The names of fields in the constructor, by their serialized names. */
  names: Map<string, string>;
}

const CLASSES = new Map<string, ClassInfo>(
  Object.entries({
    AIMessage,
    AIMessageChunk,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
  }).map(([name, create]) => [name, { create: create as unknown as MessageClass, names: namesOf(create) }]),
);

function namesOf(create: object): Map<string, string> {
  const names = new Map<string, string>();
  for (
    let at = create as MessageClass | null;
    at?.prototype;
    at = Object.getPrototypeOf(at) as MessageClass
  ) {
    for (const [name, saved] of Object.entries({ ...at.prototype.lc_aliases }))
      names.set(String(saved), name);
  }
  return names;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const result: Json = {};
  for (const key in value) result[key] = copy((value as Json)[key]);
  return result;
}

/** Revives the serializer's own constructions, which are a closed set; other values stay the same. */
function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(revive);
  const result: Json = {};
  for (const key in value) result[key] = revive((value as Json)[key]);
  if (result["lc"] !== 2) return result;
  if (isUndefined(result)) return undefined;
  if (result["type"] === "delta_snapshot" && Object.hasOwn(result, "value"))
    return new DeltaSnapshot(result["value"]);
  return result["type"] === "constructor" ? (construct(result) ?? result) : result;
}

function construct({ id, method = null, args }: Json): unknown {
  if (!Array.isArray(id) || id.length !== 1 || !Array.isArray(args)) return undefined;
  const [first, second] = args as unknown[];
  const isOne = args.length === 1;
  if (id[0] === "Uint8Array" && isOne && (method === null || method === "from")) {
    return isBytes(first) ? new Uint8Array(first) : undefined;
  }
  if (method !== null) return undefined;
  if (id[0] === "Set" && isOne && Array.isArray(first)) return new Set(first);
  if (id[0] === "Map" && isOne && isEntries(first)) return new Map(first);
  if (id[0] === "Error" && isOne && typeof first === "string") return new Error(first);
  const isExpression = args.length === 2 && typeof first === "string" && typeof second === "string";
  return id[0] === "RegExp" && isExpression ? attempt(() => new RegExp(first, second)) : undefined;
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item >= 0 && item <= 255);
}

function isEntries(value: unknown): value is [unknown, unknown][] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && entry.length === 2);
}
