import type { BaseMessage, MessageContent } from "@langchain/core/messages";
import { isFromUser } from "../text/index.ts";
import { copyOf } from "./message-copies.ts";

/** A message is never changed in place: it is looked through once. */
const looked = new WeakMap<BaseMessage, Map<string, BaseMessage>>();

/**
 * Messages in which nothing that a user wrote or a tool returned can be taken for the harness's own words: a tag by
 * which it speaks is shown, and begins or ends nothing. The same text always becomes the same text, so that no cached
 * prefix breaks.
 */
export function withoutControlTags(messages: readonly BaseMessage[], tag: string): BaseMessage[] {
  return messages.map((message) => {
    if (!isFromUser(message) && message.type !== "tool") return message;
    const cached = looked.get(message) ?? new Map<string, BaseMessage>();
    looked.set(message, cached);
    const plain = cached.get(tag) ?? withoutTags(message, tag);
    cached.set(tag, plain);
    return plain;
  });
}

/** The tags of reminders and prompts, in the spellings that models know. */
const TAGS = ["system[_-]?reminder", "todo_list_system", "conversation_so_far", "user_words"];

/**
 * A text for a file, with the tags as the file has them: an agent that read them as text sends them back as text. Where
 * the file itself has them as text, or not at all, the agent means what it sends.
 */
export function withTagsOf(file: string, text: string): string {
  if (!text.includes("&lt;")) return text;
  const tags = new RegExp(`&lt;(\\s*/?\\s*(?:${[...TAGS, "reminder"].join("|")})\\b)`, "gi");
  return text.replaceAll(tags, (shown, name: string) =>
    file.includes(`<${name}`) && !file.includes(shown) ? `<${name}` : shown,
  );
}

/** A text of others within a text of the harness: the same. */
export function shownTags(text: string): string {
  return text.replaceAll(openingOf([...TAGS, "reminder"]), "&lt;");
}

function openingOf(names: readonly string[]): RegExp {
  return new RegExp(`<(?=\\s*/?\\s*(?:${names.join("|")})\\b)`, "gi");
}

function withoutTags(message: BaseMessage, tag: string): BaseMessage {
  const opening = openingOf([...TAGS, tag.replaceAll(/[^\w-]/g, ".")]);
  const content = shownContent(message.content, opening);
  return content === message.content ? message : copyOf(message, { content });
}

/** The same content where nothing has to be shown. */
function shownContent(content: MessageContent, opening: RegExp): MessageContent {
  if (typeof content === "string") return content.replaceAll(opening, "&lt;");
  const blocks = content.map((block) => {
    if (block.type !== "text" || typeof block["text"] !== "string") return block;
    const text = block["text"].replaceAll(opening, "&lt;");
    return text === block["text"] ? block : { ...block, text };
  });
  return blocks.every((block, index) => block === content[index]) ? content : blocks;
}
