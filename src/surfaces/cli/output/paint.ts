import { stripVTControlCharacters, styleText } from "node:util";
import type { Status } from "../../../plan/index.ts";

export type Style = Parameters<typeof styleText>[0];

/** Colours a text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string;

/** The colour of each status, the same in every output. */
export const STATUS_STYLES: Readonly<Record<Status, Style>> = {
  pending: "dim",
  in_progress: "cyan",
  completed: "green",
  blocked: "yellow",
  cancelled: "dim",
};

export const plainPaint: Paint = (_style, text) => text;

export const colourPaint: Paint = (style, text) => styleText(style, text, { validateStream: false });

/** Text from models and tools without what would steer the terminal; tabs become spaces. */
export function harmless(text: string): string {
  return (
    stripVTControlCharacters(text)
      .replaceAll("\t", "    ")
      // oxlint-disable-next-line no-control-regex -- taking control characters out is the point
      .replaceAll(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "")
  );
}

/** One line of harmless text. */
export function oneLine(text: string): string {
  return harmless(text.replaceAll(/\s+/g, " ")).trim();
}
