import type { BaseMessage } from "@langchain/core/messages";
import { markOf } from "../../marks.ts";

/** Fields that mark a text, or the end of a longer one, as the harness's own words. */
export function ownText(text: string) {
  return { harness_end: [text.length, checksum(text)] } as const;
}

/**
 * The end of a message that the harness wrote; empty if there is none, or if the text has changed since. Only what is
 * before it can be the words of others.
 */
export function ownPartOf(message: BaseMessage): string {
  const end = markOf(message, "harness_end");
  if (!Array.isArray(end)) return "";
  const [length, sum] = end as [number, number];
  const { content } = message;
  const text = typeof content === "string" ? content : lastText(content);
  const own = text.slice(text.length - length);
  return own.length === length && checksum(own) === sum ? own : "";
}

function lastText(content: readonly unknown[]): string {
  const { type, text } = (content.at(-1) ?? {}) as { type?: string; text?: string };
  return type === "text" ? (text ?? "") : "";
}

/** A checksum against changes by other middleware (FNV-1a). */
function checksum(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  return sum >>> 0;
}
