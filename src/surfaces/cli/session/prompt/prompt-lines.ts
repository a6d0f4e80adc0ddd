import stringWidth from "string-width";
import { harmless, shown, type Harmless, type CursorPlace, type Paint } from "../../output/index.ts";
import type { Draft } from "./line-editor.ts";

export interface PromptOptions {
  columns: number;
  /** The maximum number of rows. */
  rows: number;
  paint: Paint;
  /** A placeholder for an empty prompt. */
  hint: Harmless;
}

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Renders the prompt as rows, with the cursor position. If there are too many, those around the cursor are kept. */
export function promptLines(
  { text, cursor }: Draft,
  { columns, rows: most, paint, hint }: PromptOptions,
): { lines: Harmless[]; cursor: CursorPlace } {
  const mark = paint("cyan", shown`>`);
  if (text === "") return { lines: [shown`${mark} ${paint("dim", hint)}`], cursor: { row: 0, column: 2 } };
  const width = Math.max(4, columns - 3);
  const rows: Harmless[] = [shown``];
  let [used, place] = [0, { row: 0, column: 0 }];
  const newRow = (): void => {
    rows.push(shown``);
    used = 0;
  };
  for (const { segment, index } of SEGMENTER.segment(text)) {
    const isBreak = segment === "\n" || segment === "\r\n";
    const piece = isBreak ? shown`` : harmless(segment);
    const wide = stringWidth(piece);
    if (used + wide > width) newRow();
    if (index === cursor) place = { row: rows.length - 1, column: used };
    rows[rows.length - 1] = shown`${rows.at(-1)!}${piece}`;
    used += wide;
    if (isBreak) newRow();
  }
  if (cursor >= text.length) place = { row: rows.length - 1, column: used };
  const first = Math.max(0, Math.min(place.row - Math.floor(most / 2), rows.length - most));
  const lines = rows
    .slice(first, first + most)
    .map((row, at) => (first + at === 0 ? shown`${mark} ${row}` : shown`  ${row}`));
  return { lines, cursor: { row: place.row - first, column: place.column + 2 } };
}
