/** Names of tags by which the harness speaks to a model. */
const OURS = /<(?=\/?\s*(?:system[_-]reminder|instructions|skill)\b)/gi;

/** Text of a file between tags. What in it looks like the harness's own tags is shown, and ends or begins nothing. */
export function quotedText(tag: "instructions" | "skill", from: string, text: string): string {
  const [place, words] = [JSON.stringify(from), text.trim()].map((one) => one.replaceAll(OURS, "&lt;"));
  return `<${tag} from=${place}>\n${words}\n</${tag}>`;
}
