/** Names of tags by which the harness speaks to a model. */
const OURS = /<(?=\/?\s*(?:system[_-]reminder|instructions|skill)\b)/gi;

/** Text of a file between tags. What in it looks like the harness's own tags is shown, and ends or begins nothing. */
export function quotedText(tag: "instructions" | "skill", from: string, text: string): string {
  return `<${tag} from=${JSON.stringify(from)}>\n${text.trim().replaceAll(OURS, "&lt;")}\n</${tag}>`;
}
