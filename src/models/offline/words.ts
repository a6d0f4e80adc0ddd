import type { DoneCall } from "./conversation.ts";

/** A count with its noun: `1 file`, `2,400 files`. */
export function counted(count: number, noun: string): string {
  return `${String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")} ${noun}${count === 1 ? "" : "s"}`;
}

/** A path relative to the surveyed directory: the file tools write it with a slash in front. */
export function local(path: string): string {
  return path === "/" ? "." : path.slice(1);
}

/** A path or an excerpt as a code span of Markdown. */
export function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  const pad = /^`|`$/.test(text) ? " " : "";
  return `${fence}${pad}${text}${pad}${fence}`;
}

/** The first sentence of a failed call's result, without `Error:`. */
export function reasonIn({ args, result }: Pick<DoneCall, "args" | "result">): string {
  const path = args["path"] ?? args["file_path"];
  const text = typeof path === "string" ? result.replaceAll(`"${path}"`, () => `"${local(path)}"`) : result;
  const line = text
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

/** A sub-agent's report, without the line in front of it that says how the sub-agent ended. */
export function reportIn({ result }: Pick<DoneCall, "result">): string {
  return result.replace(/^\[(?:Done|In part|Failed)\b.*\](?: \w+)?\n/, "").trimEnd();
}
