import { stripVTControlCharacters, styleText } from "node:util";
import sliceAnsi from "slice-ansi";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { jsonText, UNSEEN } from "../../../threads/json-text/index.ts";

declare const HARMLESS: unique symbol;

/**
 * Text without control sequences, except for our own colours, and without invisible characters. Only such text can be
 * written, and only this file creates it: any other text may come from a model, a file or a server.
 */
export type Harmless = string & { readonly [HARMLESS]: true };

/** An output stream of the process that accepts harmless text only. */
export type Sink = Omit<NodeJS.WriteStream, "write" | "end"> & {
  // A property, not a method, whose parameters TypeScript would compare bivariantly.
  write: (text: Harmless) => unknown;
};

/** Removes control sequences and invisible characters from a text; tabs become spaces. */
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

/** A template tag: our own literal text, with harmless values in it. */
export function shown(words: TemplateStringsArray, ...parts: readonly (Harmless | number)[]): Harmless {
  return String.raw({ raw: words }, ...parts) as Harmless;
}

/** A value as JSON, with unsafe characters as escapes. */
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

/** Wraps a text into rows, at words if possible. In prose, spaces at the breaks are removed. */
export function wrapped(text: Harmless, columns: number, isProse = false): Harmless[] {
  return wrapAnsi(text, columns, { hard: true, trim: isProse }).split("\n") as Harmless[];
}

/** Pads a table cell with spaces. */
export function padded(cell: Harmless, width: number): Harmless {
  return (cell + " ".repeat(Math.max(0, width - stringWidth(cell)))) as Harmless;
}

/** A slice of harmless text. `from` and `to` must not be inside a colour sequence. */
export function part(text: Harmless, from: number, to?: number): Harmless {
  return text.slice(from, to) as Harmless;
}
