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

/** What only LangChain's `load` can read, which has to be waited for. */
export const LATE = Symbol("late");

type Json = Record<string, unknown>;
type MessageClass = (new (fields: Json) => BaseMessage) & { prototype: { lc_aliases: object } };

/** Makes a value that nobody else has, each time it is called. */
export type Make = () => unknown;

const MESSAGE = '{"lc":1,"type":"constructor","id":["langchain_core","messages","';

/**
 * Reads the text that LangGraph's serializer writes, and comes to the same as the serializer does: which reads a
 * message in many steps that are each waited for, and takes ten times as long. Returns `LATE` for what is left to it.
 */
export function reviving(text: string): Make | typeof LATE {
  const Message = text.startsWith(MESSAGE) ? CLASSES.get(classIn(text)) : undefined;
  const make = Message && messageFrom(text, Message);
  if (make) return make;
  if (text.includes('"lc":1') || text.includes('"__proto__":')) return LATE;
  return text.includes('"lc":2') ? () => revive(JSON.parse(text)) : copying(JSON.parse(text));
}

/** Whether a text is a message that is read here. */
export function isPlainMessage(text: string): boolean {
  if (!text.startsWith(MESSAGE)) return false;
  // Most have nothing in them that could mean more than it says, and need not be read for that.
  if (CLASSES.has(classIn(text)) && !ODD_KEY.test(text.slice(MESSAGE.length))) return true;
  return reviving(text) !== LATE;
}

function classIn(text: string): string {
  return text.slice(MESSAGE.length, text.indexOf('"', MESSAGE.length));
}

function messageFrom(text: string, { create: Message, names }: KnownClass): Make | undefined {
  const kwargs = kwargsIn(text);
  if (!kwargs) return undefined;
  const fields: Json = {};
  for (const key in kwargs) fields[names.get(key) ?? camelCase(key)] = kwargs[key];
  const inner = Object.keys(fields).filter((key) => typeof fields[key] === "object");
  return () => {
    // A constructor may change what it is given.
    const given = { ...fields };
    for (const key of inner) given[key] = copy(fields[key]);
    return new Message(given);
  };
}

/** What a message was made with; undefined where LangChain would find more than plain values in it. */
function kwargsIn(text: string): Json | undefined {
  const { kwargs } = JSON.parse(text) as { kwargs: Json };
  // Most are, and need no second look.
  if (isPlain(kwargs)) return kwargs;
  const given: Json = {};
  for (const key in kwargs) if (!isUndefined(kwargs[key])) given[key] = kwargs[key];
  if (!Object.hasOwn(kwargs, "__proto__") && isPlain(given)) return given;
  if (/"lc":1|"__lc_escaped__":|"__proto__":/.test(text.slice(MESSAGE.length))) return undefined;
  // The serializer revives what is inside of a message, and writes the message out again before it loads it.
  return JSON.parse(JSON.stringify(revive(given))) as Json;
}

/** Whether there is nothing in a value that means more than it says. */
function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (Array.isArray(value)) return value.every(isPlain);
  for (const key in value) if (ODD.has(key) || !isPlain((value as Json)[key])) return false;
  return true;
}

const ODD = new Set(["lc", "__lc_escaped__", "__proto__"]);
const ODD_KEY = /"(?:lc|__lc_escaped__|__proto__)":/;

function isUndefined(value: unknown): boolean {
  const { lc, type } = (value ?? {}) as Json;
  return lc === 2 && type === "undefined";
}

/** The name of a constructor's argument, as `load` makes it of a name that it does not know. */
function camelCase(key: string): string {
  const name = key.trim();
  if (!/[-_\s]/.test(name)) return name;
  const words = name.replaceAll(/[-_\s]+/g, "_").toLowerCase();
  return words.replaceAll(/_+([a-z0-9])/g, (_, first: string) => first.toUpperCase());
}

interface KnownClass {
  create: MessageClass;
  /** What the fields are called in a constructor, by what they are called when they are saved. */
  names: Map<string, string>;
}

const CLASSES = new Map<string, KnownClass>(
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

/** Copies plain JSON. */
function copying(value: unknown): Make {
  return typeof value === "object" && value !== null ? () => copy(value) : () => value;
}

function copy(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const made: Json = {};
  for (const key in value) made[key] = copy((value as Json)[key]);
  return made;
}

/** The closed set of things that the serializer writes of its own; what is no such thing stays what it is. */
function revive(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(revive);
  const made: Json = {};
  for (const key in value) made[key] = revive((value as Json)[key]);
  if (made["lc"] !== 2) return made;
  if (isUndefined(made)) return undefined;
  if (made["type"] === "delta_snapshot" && Object.hasOwn(made, "value"))
    return new DeltaSnapshot(made["value"]);
  return made["type"] === "constructor" ? (construct(made) ?? made) : made;
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
  return id[0] === "RegExp" && isExpression ? expression(first, second) : undefined;
}

function expression(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((item) => Number.isInteger(item) && item >= 0 && item <= 255);
}

function isEntries(value: unknown): value is [unknown, unknown][] {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry) && entry.length === 2);
}
