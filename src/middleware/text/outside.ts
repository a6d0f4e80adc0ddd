/**
 * A text that somebody else wrote, such as a page or a server's answer, as data for a model: between tags that say where
 * it is from, and without tags by which the harness speaks, or characters that nobody sees.
 */
export function fromOutside(text: string, source: string): string {
  const from = defused(source).replaceAll(/["<>\s]+/g, " ");
  return `<${TAG} source="${from}">\n${defused(text)}\n</${TAG}>`;
}

const TAG = "external_data";

/** The tags of our prompts and reminders, in the spellings that models know. */
const OURS = new RegExp(`<(?=[\\s/]*(?:system|todo_list|${TAG})[\\w-]*)`, "gi");

/** Zero-width characters and tags, which can carry words that people do not see. */
const UNSEEN = /[\u200B\u2060\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

/** The same text, where nothing can be taken for the harness's own words. */
export function defused(text: string): string {
  return text.replaceAll(UNSEEN, "").replaceAll(OURS, "&lt;");
}
