import type { BaseMessage, MessageContent } from "@langchain/core/messages";
import { escapedTags, opening } from "../../plan/render/index.ts";
import { isFromUser, ownPartOf } from "../text/index.ts";
import { copyOf } from "./message-copies.ts";

/** Escaped messages by message and tag. Messages are never changed in place, so each is searched once. */
const escapedCopies = new WeakMap<BaseMessage, Map<string, BaseMessage>>();

/**
 * Escapes the harness's own tags in what users wrote and tools returned, so that a model cannot take it for the
 * harness's words. The same text always gives the same result, so cached prefixes stay valid.
 */
export function withoutControlTags(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  return messages.map((message) => {
    if (!isFromUser(message) && message.type !== "tool") return message;
    const copies = escapedCopies.get(message) ?? new Map<string, BaseMessage>();
    escapedCopies.set(message, copies);
    const escaped = copies.get(tag) ?? withoutTags(message, tag);
    copies.set(tag, escaped);
    return escaped;
  });
}

/**
 * The tags of reminders and prompts, in the spellings that models know. Fewer than those that are escaped in quoted text:
 * an agent copies what it reads into files, where other tags have other meanings.
 */
const TAGS = [
  "system[_-]?reminder",
  "todo_list_system",
  "conversation_so_far",
  "user_words",
  "reminder",
  "plan",
];

/**
 * Unescapes tags in a text that an agent writes to a file, where the file has them unescaped: the agent saw them
 * escaped and sends them back so. Tags that the file has escaped, or not at all, stay as sent.
 */
export function withTagsOf(file: string, text: string): string {
  if (!text.includes("&lt;")) return text;
  const names = TAGS.map(withInvisible).join("|");
  const tags = new RegExp(`&lt;([\\s${INVISIBLE}]*/?[\\s${INVISIBLE}]*(?:${names})\\b)`, "giu");
  return text.replaceAll(tags, (escaped, name: string) =>
    file.includes(`<${name}`) && !file.includes(escaped) ? `<${name}` : escaped,
  );
}

const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}`;

/** The pattern of a name, with invisible characters between its letters. */
function withInvisible(name: string): string {
  return name.match(/\[[^\]]+\]\??|./g)!.join(`[${INVISIBLE}]*`);
}

function withoutTags(message: BaseMessage, tag: string): BaseMessage {
  const names = opening([...TAGS, tag.replaceAll(/[^\w-]/g, ".")]);
  const own = isFromUser(message) ? "" : ownPartOf(message);
  const content = escapedContent(message.content, names, own);
  return content === message.content ? message : copyOf(message, { content });
}

/** Escapes tags in the texts of a content, but not in its `own` end. Returns the same object if there are none. */
function escapedContent(content: MessageContent, names: RegExp, own: string): MessageContent {
  if (typeof content === "string") return escapedRun([content], names, own)[0]!;
  // A model reads adjacent texts as one.
  const blocks = [...content];
  for (let at = 0; at < blocks.length; at += 1) {
    let end = at;
    while (textOf(blocks[end]) !== undefined) end += 1;
    const texts = blocks.slice(at, end).map((block) => textOf(block)!);
    for (const [index, text] of escapedRun(texts, names, end === blocks.length ? own : "").entries())
      if (text !== texts[index]) blocks[at + index] = { ...blocks[at + index]!, text };
    at = end;
    if (at < blocks.length) blocks[at] = escapedValue(blocks[at]!, names);
  }
  return blocks.every((block, index) => block === content[index]) ? content : blocks;
}

type ContentBlock = Exclude<MessageContent, string>[number];

function textOf(block: ContentBlock | undefined): string | undefined {
  return block?.type === "text" && typeof block["text"] === "string" ? block["text"] : undefined;
}

/** Escapes tags in texts, also a tag that begins in one of them and ends in another. */
function escapedRun(texts: readonly string[], names: RegExp, own: string): readonly string[] {
  const whole = texts.join("");
  let rest = escapedTags(whole.slice(0, whole.length - own.length), names) + own;
  if (rest === whole) return texts;
  return texts.map((text) => {
    let at = 0;
    for (const character of text) at += character === "<" && rest[at] === "&" ? 4 : character.length;
    const escaped = rest.slice(0, at);
    rest = rest.slice(at);
    return escaped;
  });
}

/** Escapes tags in all texts of a block that is no text, such as a file. Returns the same value if there are none. */
function escapedValue<Value>(value: Value, names: RegExp): Value {
  if (typeof value === "string") return escapedTags(value, names) as Value;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return value;
  const entries = Object.entries(value);
  const parts = entries.map(([, part]) => escapedValue<unknown>(part, names));
  if (parts.every((part, at) => part === entries[at]![1])) return value;
  return (
    Array.isArray(value) ? parts : Object.fromEntries(entries.map(([key], at) => [key, parts[at]]))
  ) as Value;
}
