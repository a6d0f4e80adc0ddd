import type { DoneCall } from "./conversation.ts";

/** A count with its noun: `1 file`, `2,400 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** A number with commas between thousands. */
export function grouped(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** A path in a list that is read back: a JSON string, whatever is in the name. */
export function quoted(path: string): string {
  return JSON.stringify(path);
}

/** The JSON strings in a text, read back. */
export function unquoted(text: string): string[] {
  return [...text.matchAll(/"(?:[^"\\]|\\.)*"/g)].map(([json]) => JSON.parse(json) as string);
}

/** A path as somebody in the surveyed directory writes it: the file tools know it with a slash in front. */
export function local(path: string): string {
  return path === "/" ? "." : path.slice(1);
}

/** A path or an excerpt as a code span, whatever is in it. */
export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  // Markdown takes a space away from both ends where both have one.
  const pad = /^`|`$|^ .* $/.test(text) ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** A Markdown table. The columns of `numbers` stand at the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  numbers: readonly string[],
): string[] {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", String.raw`\|`)).join(" | ")} |`;
  return [line(head), line(head.map((name) => (numbers.includes(name) ? "---:" : "---"))), ...rows.map(line)];
}

/** The first sentence of a failed call's result, without the word in front of it. */
export function reasonIn({ args, result }: Pick<DoneCall, "args" | "result">): string {
  const path = args["path"] ?? args["file_path"];
  const told = typeof path === "string" ? result.replaceAll(`"${path}"`, () => `"${local(path)}"`) : result;
  const line = told
    .replace(/^Error: /, "")
    .split("\n", 1)[0]!
    .slice(0, 1000);
  const sentence = /^(?:"[^"]*"|[^".]|"|\.(?!\s|$))+/.exec(line)?.[0] ?? line;
  return shortened(sentence, 160);
}

/** At most `most` characters of a line. */
export function shortened(line: string, most: number): string {
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}
