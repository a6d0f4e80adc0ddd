import { type FileResult, fail } from "../backend/index.ts";

const MAX_LINE = 2000;
/** The limit for a line that is requested alone. */
const MAX_SINGLE_LINE = 90_000;

/** A range of lines. */
export interface LinePage {
  /** Lines to skip. Default 0. */
  offset?: number;
  /** Lines to show at most. Default 2000. */
  limit?: number;
  /** Characters of the first line to skip. If set, only that line is shown. Default 0. */
  column?: number;
}

/** A rendered page of a file: the lines after `from` up to `to`, of `of` lines in total. */
export interface ShownLines {
  text: string;
  from: number;
  to: number;
  of: number;
}

/**
 * Renders a page of a file like `cat -n`: lines numbered from 1, long ones cut unless requested alone, and notes in
 * square brackets where there is more. An offset or column beyond the end is a failure that names the length.
 */
export function numberLines(
  content: string,
  { offset = 0, limit = 2000, column = 0 }: LinePage = {},
): FileResult<ShownLines> {
  if (content === "") return { ok: true, text: "[The file is empty.]", from: 0, to: 0, of: 0 };
  const lines = splitLines(content);
  const from = Math.max(0, Math.trunc(offset) || 0);
  if (from >= lines.length) {
    const length = lines.length === 1 ? "1 line" : `${lines.length} lines`;
    return fail(`The offset ${from} is behind the end: the file has ${length}.`);
  }
  const skipped = Math.max(0, Math.trunc(column) || 0);
  const first = lines[from]!;
  if (skipped > 0 && skipped >= first.length) {
    return fail(`The column ${skipped} is behind the end: the line has ${first.length} characters.`);
  }
  const most = skipped > 0 ? 1 : Math.max(1, Math.trunc(limit) || 1);
  const to = Math.min(lines.length, from + most);
  const rows = lines.slice(from, to).map((line, index) => {
    const at = from + index;
    const more = (end: number): string =>
      `; to see more of it, use offset ${at}, limit 1${most === 1 ? `, column ${end}` : ""}`;
    const text = cutLine(line, most === 1 ? skipped + MAX_SINGLE_LINE : MAX_LINE, more);
    const rest = skipped > 0 ? `[from column ${skipped}] ${text.slice(skipped)}` : text;
    return `${String(at + 1).padStart(6)}\t${rest}`;
  });
  if (to < lines.length) {
    rows.push(`[Lines ${from + 1}-${to} of ${lines.length}. To read on, use offset ${to}.]`);
  }
  return { ok: true, text: rows.join("\n"), from, to, of: lines.length };
}

/** Parses the output of `numberLines` into lines by number. */
export function numberedLines(text: string): Map<number, string> {
  const numbered = text.split("\n").flatMap((line) => {
    const [, number, content] = /^ *(\d+)\t(.*)$/s.exec(line) ?? [];
    return number === undefined ? [] : [[Number(number), content!] as const];
  });
  return new Map(numbered);
}

/** The lines of a text without their endings. A final line ending does not add an empty line. */
export function splitLines(content: string): string[] {
  const lines = content.split(/\r?\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Cuts a line to `max` characters and adds a note. `more` returns advice for reading on from the cut. */
export function cutLine(line: string, max: number, more: (end: number) => string = () => ""): string {
  if (line.length <= max) return line;
  const end = wholeCharacters(line, max);
  return `${line.slice(0, end)} [cut: the line has ${line.length} characters${more(end)}]`;
}

/** The nearest index at or before `index` that is not inside a surrogate pair. */
export function wholeCharacters(text: string, index: number): number {
  const splits = /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(Math.max(0, index - 1), index + 1));
  return splits ? index - 1 : index;
}
