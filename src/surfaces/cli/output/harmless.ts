import { stripVTControlCharacters, styleText } from "node:util";
import sliceAnsi from "slice-ansi";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { jsonText, UNSEEN } from "../../../threads/json-text/index.ts";

declare const HARMLESS: unique symbol;

/**
 * Text that neither steers a terminal nor hides what it says, but for our own colours. Only this can be written, and
 * only this file makes it: everything else, also what looks like our own, may come from a model, a file or a server.
 */
export type Harmless = string & { readonly [HARMLESS]: true };

/** A stream of the process, as everything but this file sees it. */
export type Sink = Omit<NodeJS.WriteStream, "write" | "end"> & {
  // A property, not a method: TypeScript would take a stream that wants any text for one of these.
  write: (text: Harmless) => unknown;
};

/** Text of several lines without what would steer the terminal; tabs become spaces. */
export function harmless(text: string): Harmless {
  return stripVTControlCharacters(text).replaceAll("\t", "    ").replaceAll(UNSEEN, "") as Harmless;
}

/** The same, line by line. */
export function harmlessLines(text: string): Harmless[] {
  return harmless(text).split("\n") as Harmless[];
}

/** The same in one line. */
export function oneLine(text: string): Harmless {
  return harmless(text.replaceAll(/[^\S\ufeff]+/g, " ")).trim() as Harmless;
}

/** Our own words, as they are, around what was made harmless. */
export function shown(words: TemplateStringsArray, ...parts: readonly (Harmless | number)[]): Harmless {
  return String.raw({ raw: words }, ...parts) as Harmless;
}

/** A value as JSON, which stays the same value. */
export function shownJson(value: unknown): Harmless {
  return jsonText(value) as Harmless;
}

/** Text for another program: unchanged in a pipe, harmless on a terminal. */
export function exact(text: string, { isTTY }: Pick<Sink, "isTTY">): Harmless {
  return isTTY ? harmless(text) : (text as Harmless);
}

export function joined(parts: readonly Harmless[], between: "\n" | "  " | ", " | " " | ""): Harmless {
  return parts.join(between) as Harmless;
}

export type Style = Parameters<typeof styleText>[0];

export function coloured(style: Style, text: Harmless): Harmless {
  return styleText(style, text, { validateStream: false }) as Harmless;
}

/** A line that leaves the last column free, since some terminals wrap as soon as it is written. */
export function fit(line: Harmless, columns: number): Harmless {
  const width = Math.max(1, columns - 1);
  if (stringWidth(line) <= width) return line;
  return `${sliceAnsi(line, 0, Math.max(0, width - 1))}…` as Harmless;
}

/** The rows that a text takes, broken at words where it can be. In prose the space of a break is left out. */
export function wrapped(text: Harmless, columns: number, isProse = false): Harmless[] {
  return wrapAnsi(text, columns, { hard: true, trim: isProse }).split("\n") as Harmless[];
}

/** A cell of a table, filled with spaces to its width. */
export function padded(cell: Harmless, width: number): Harmless {
  return (cell + " ".repeat(Math.max(0, width - stringWidth(cell)))) as Harmless;
}

/** A part of a text that was made harmless: `from` and `to` are no places within a colour. */
export function part(text: Harmless, from: number, to?: number): Harmless {
  return text.slice(from, to) as Harmless;
}
