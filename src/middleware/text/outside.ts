/**
 * Untrusted text, such as a web page or a server's answer, as data for a model: between tags that name its source,
 * without the harness's own tags and invisible characters.
 */
export function fromOutside(text: string, source: string): string {
  const name = defused(source).replaceAll(/["<>\s]+/g, " ");
  return `<${TAG} source="${name}">\n${defused(text)}\n</${TAG}>`;
}

const TAG = "external_data";

/** Opening brackets of the tags in our prompts and reminders, in the spellings that models know. */
const HARNESS_TAGS = new RegExp(`<(?=[\\s/]*(?:system|todo_list|${TAG})[\\w-]*)`, "gi");

/** Zero-width and tag characters, which can carry text that people do not see. */
const INVISIBLE = /[\u200B\u2060\uFEFF]|[\u{E0000}-\u{E007F}]/gu;

/** Removes from untrusted text what a model could take for the harness's own words. */
export function defused(text: string): string {
  return text.replaceAll(INVISIBLE, "").replaceAll(HARNESS_TAGS, "&lt;");
}

/** Opening brackets of the tags that could end or begin a quoted file. */
const QUOTE_TAGS = /<(?=\/?\s*(?:system[_-]reminder|instructions|skill)\b)/gi;

/** The text of a file between tags, with the harness's own tags in it escaped. */
export function quotedText(tag: "instructions" | "skill", source: string, text: string): string {
  const [path, content] = [JSON.stringify(source), text.trim()].map((part) =>
    part.replaceAll(QUOTE_TAGS, "&lt;"),
  );
  return `<${tag} from=${path}>\n${content}\n</${tag}>`;
}
