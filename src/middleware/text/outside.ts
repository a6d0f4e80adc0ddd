/**
 * Untrusted text, such as a web page or a server's answer, as data for a model: between tags that name its source,
 * without the harness's own tags, hidden text and changes of direction.
 */
export function fromOutside(text: string, source: string): string {
  const name = defused(source).replaceAll(/["<>\s]+/g, " ");
  return `<${TAG} source="${name}">\n${defused(text)}\n</${TAG}>`;
}

const TAG = "external_data";

/** Opening brackets of the tags in our prompts and reminders, in the spellings that models know. */
const HARNESS_TAGS = /<(?=[\s/]*(?:system|todo_list|external_data))/gi;

/**
 * Zero-width spaces and tag characters, which can carry text that people do not see, and characters that show text in
 * another order. Without joiners and variation selectors, which scripts and emojis need.
 */
const HIDDEN = /[\u200B\u2060\uFEFF\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/gu;

/** Characters that are not shown. A model reads a tag with some of them in it as the tag. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Removes from untrusted text what a model could take for the harness's own words. */
export function defused(text: string): string {
  return escapedTags(text.replaceAll(HIDDEN, ""), HARNESS_TAGS);
}

/** Escapes the opening brackets of tags. `opening` matches one in a text without invisible characters. */
export function escapedTags(text: string, opening: RegExp): string {
  const visible = text.replaceAll(INVISIBLE, "");
  const tags = new Set(Array.from(visible.matchAll(opening), ({ index }) => index));
  if (tags.size === 0) return text;
  // The brackets of both texts have the same order.
  let at = -1;
  return text.replaceAll("<", (bracket) => {
    at = visible.indexOf("<", at + 1);
    return tags.has(at) ? "&lt;" : bracket;
  });
}

/** Opening brackets of the tags that could end or begin a quoted file. */
const QUOTE_TAGS = /<(?=\/?\s*(?:system[_-]reminder|instructions|skill)\b)/gi;

/** The text of a file between tags, with the harness's own tags in it escaped. */
export function quotedText(tag: "instructions" | "skill", source: string, text: string): string {
  const [path, content] = [JSON.stringify(source), text.trim()].map((part) => escapedTags(part, QUOTE_TAGS));
  return `<${tag} from=${path}>\n${content}\n</${tag}>`;
}
