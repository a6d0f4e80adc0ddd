import { foreign } from "../../plan/render/index.ts";

/**
 * Untrusted text, such as a web page or a server's answer, as data for a model: between tags that name its source,
 * without the harness's own tags, hidden text and changes of direction.
 */
export function fromOutside(text: string, source: string): string {
  const name = defused(source).replaceAll(/["<>\s]+/g, " ");
  return `<${TAG} source="${name}">\n${defused(text)}\n</${TAG}>`;
}

const TAG = "external_data";

/**
 * Zero-width spaces and tag characters, which can carry text that users do not see, and characters that show text in
 * another order. Without joiners and variation selectors, which scripts and emojis need.
 */
const HIDDEN = /[\u200B\u2060\uFEFF\u202A-\u202E\u2066-\u2069]|[\u{E0000}-\u{E007F}]/gu;

/** Removes from untrusted text what a model could take for the harness's own words. */
export function defused(text: string): string {
  return foreign(text.replaceAll(HIDDEN, ""));
}

/** The text of a file between tags, with the harness's own tags in it escaped. */
export function quotedText(tag: "instructions" | "skill", source: string, text: string): string {
  return `<${tag} from=${foreign(JSON.stringify(source))}>\n${foreign(text.trim())}\n</${tag}>`;
}
