import type { FinishedCall } from "./conversation.ts";

/** A count with its noun: `1 file`, `2,400 files`. */
export function counted(count: number, noun: string): string {
  return `${String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A path without the leading slash of the file tools. */
export function local(path: string): string {
  return path === "/" ? "." : path.slice(1);
}

/** A text as a code span of Markdown. */
export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const pad = /^`|`$/.test(text) ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** The first sentence of a failed call's result, without `Error:`. */
export function reasonIn({ args, result }: Pick<FinishedCall, "args" | "result">): string {
  const path = args["path"] ?? args["file_path"];
  const text = typeof path === "string" ? result.replaceAll(`"${path}"`, () => `"${local(path)}"`) : result;
  const line = text
    .replace(/^Error: /, "")
    .split("\n", 1)[0]!
    .slice(0, 1000);
  const sentence = /^(?:"[^"]*"|[^".]|"|\.(?!\s|$))+/.exec(line)?.[0] ?? line;
  return shortened(sentence, 160);
}

/** Cuts a line to `max` characters. */
export function shortened(line: string, max: number): string {
  return line.length <= max ? line : `${line.slice(0, max - 1).toWellFormed()}…`;
}

/** A sub-agent's report, without a last line about the sub-agent's outcome. */
export function reportIn({ result }: Pick<FinishedCall, "result">): string {
  return result.replace(/\n\[(?:Done|In part|Failed)\b.*\](?: \w+)?$/, "").trimEnd();
}
