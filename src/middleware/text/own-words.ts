import type { BaseMessage } from "@langchain/core/messages";

/** The length and the checksum of the end of a tool's result that the harness wrote. */
const OWN_END = "harness_end";

/** Fields that mark a text, or the end of a longer one, as the harness's own words. */
export function ownText(text: string): Record<string, unknown> {
  return { [OWN_END]: [text.length, checksum(text)] };
}

/**
 * The end of a message that the harness wrote; empty if there is none, or if the text has changed since. Only what is
 * before it can be the words of others.
 */
export function ownPartOf({ additional_kwargs, content }: BaseMessage): string {
  const mark = additional_kwargs[OWN_END];
  if (!Array.isArray(mark)) return "";
  const [length, sum] = mark as [number, number];
  const text = typeof content === "string" ? content : lastText(content);
  const end = text.slice(text.length - length);
  return end.length === length && checksum(end) === sum ? end : "";
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
