import { pathMeant } from "../../../files/disk/index.ts";
import { PLAN_TOOLS } from "../../../plan/presets/index.ts";
import type { RunEvent } from "../../../threads/events/index.ts";
import { inPlainSight, jsonText } from "../../../threads/json-text/index.ts";
import { fileChange, type FileChange } from "../../../threads/undo/index.ts";
import { MAIN, ownerName } from "../../../threads/view/index.ts";
import { duration, harmlessLines, oneLine, shown, type Harmless, type Paint } from "../output/index.ts";

type ToolEnd = Extract<RunEvent, { type: "tool-end" }>;

/** Tools whose effects are shown by lines for other events. */
const OWN_LINES = [...PLAN_TOOLS, "task"];

const VERBS: Readonly<Record<string, string>> = {
  read_file: "read",
  write_file: "write",
  edit_file: "edit",
  delete_file: "delete",
};

/** The most displayed lines of a command's output, from its end. */
const MAX_OUTPUT_LINES = 5;

export interface CallLinesOptions {
  tookMs?: number;
  /** The directory, which absolute paths of files may include. */
  dir?: string;
}

/** A finished call in one line, with the reason of a failure and the end of a command's output. */
export function callLines(
  event: ToolEnd,
  paint: Paint,
  { tookMs = 0, dir }: CallLinesOptions = {},
): Harmless[] {
  const { owner, name, ok, args, result, output = result, exitCode, repeated } = event;
  if (ok && OWN_LINES.includes(name)) return [];
  const by = owner === MAIN ? shown`` : shown`${paint("magenta", oneLine(ownerName(owner)))} `;
  const sign = ok ? paint("green", shown`✓`) : paint("red", shown`✗`);
  const why = ok
    ? ""
    : exitCode === undefined
      ? result
      : exitCode === null
        ? stopWords(output)
        : `exit ${exitCode}`;
  const tail = [repeated && "was stopped before", why, duration(tookMs)].filter(Boolean).join(" · ");
  const head = shown`${by}${sign} ${callText(name, ok || name === "execute" ? args : {}, targetOf(event, dir))}`;
  const first = tail ? shown`${head} ${paint(ok ? "dim" : "red", oneLine(tail))}` : head;
  const outputLines = exitCode === undefined ? [] : lastLines(output);
  return [first, ...outputLines.map((line) => shown`    ${paint("dim", line)}`)];
}

/** The target of a call; for the file tools, the path that they resolve it to. */
function targetOf({ name, about }: ToolEnd, dir: string | undefined): string {
  return dir === undefined || !(name in VERBS) ? about : (pathMeant(about, dir) ?? about);
}

/** The reason why a command was stopped: the last line of its output. */
function stopWords(output: string): string {
  const last = output.trimEnd().split("\n").at(-1)!;
  return last.startsWith("[") && last.endsWith("]") ? last.slice(1, -1) : "stopped";
}

function lastLines(output: string): Harmless[] {
  return harmlessLines(output)
    .filter((line) => line.trim() !== "" && !/^\[.*\]$/.test(line))
    .slice(-MAX_OUTPUT_LINES);
}

/** `edit src/a.ts +3 −1`, `npm test`, `grep "needle" src`. */
export function callText(name: string, args: unknown, about: string): Harmless {
  const values = (typeof args === "object" && args !== null ? args : {}) as Record<string, unknown>;
  const { command } = values;
  if (name === "execute") return oneLine(`$ ${typeof command === "string" ? command : about}`);
  const change =
    name === "edit_file" && ("old_string" in values || "edits" in values)
      ? fileChange(name, args, undefined)
      : undefined;
  const content = values["content"];
  const size =
    change !== undefined
      ? ` +${change.added} −${change.removed}`
      : name === "write_file" && typeof content === "string"
        ? linesIn(content)
        : "";
  return oneLine(`${VERBS[name] ?? name} ${about.replace(/^\/(?=.)/, "")}${size}`);
}

function linesIn(content: string): string {
  const { length } = content.trimEnd().split("\n");
  return ` ${length} ${length === 1 ? "line" : "lines"}`;
}

/** A call in full: its arguments and its result. */
export function wholeCall({ name, args, about, result, output = result }: ToolEnd, paint: Paint): Harmless[] {
  const change = fileChange(name, args, undefined);
  return [
    paint("bold", callText(name, args, about)),
    ...(change ? changeLines(change, paint) : argumentLines(args, paint)),
    paint("dim", shown`result`),
    ...harmlessLines(output),
  ];
}

/** A change as a coloured diff. */
export function changeLines({ lines }: FileChange, paint: Paint): Harmless[] {
  return harmlessLines(inPlainSight(lines.join("\n"))).map((line) =>
    line.startsWith("+")
      ? paint("green", line)
      : line.startsWith("-")
        ? paint("red", line)
        : line.startsWith("@@")
          ? paint("cyan", line)
          : paint("dim", line),
  );
}

/** Arguments by name. Strings are printed with their line breaks, and with escapes for invisible characters. */
export function argumentLines(args: unknown, paint: Paint): Harmless[] {
  if (typeof args !== "object" || args === null) return harmlessLines(jsonText(args));
  return Object.entries(args).flatMap(([name, value]) => {
    const label = paint("dim", shown`${oneLine(name)}:`);
    const lines = harmlessLines(typeof value === "string" ? inPlainSight(value) : jsonText(value));
    if (lines.length === 1) return [shown`  ${label} ${lines[0]!}`];
    return [shown`  ${label}`, ...lines.map((line) => shown`    ${line}`)];
  });
}
