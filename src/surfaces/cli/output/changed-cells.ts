import stringWidth from "string-width";
import { joined, part, shown, type Harmless } from "./harmless.ts";

/** The output that turns one drawn row into another. */
export interface Change {
  /** The first column. */
  column: number;
  text: Harmless;
  /** The column after the text. */
  end: number;
  /** Whether the rest of the row has to be cleared. */
  clears: boolean;
}

/** A grapheme cluster with its colours. */
interface Cell {
  text: Harmless;
  width: number;
  colours: Harmless;
}

const RESET = shown`\u001B[m`;
const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });
// oxlint-disable-next-line no-control-regex -- our own colours are control characters
const COLOUR = /\u001B\[(\d+)m/g;

/** Finds the shortest change: from the first cell that differs to the last. */
export function changeOf(was: Harmless, line: Harmless): Change {
  const [before, after] = [cellsOf(was), cellsOf(line)];
  const [oldWidth, newWidth] = [widthOf(before), widthOf(after)];
  const front = before.findIndex((cell, at) => !isSame(cell, after[at]) || isComposed(cell));
  const from = front < 0 ? before.length : front;
  let to = after.length;
  // Terminals disagree on the width of composed characters, and so on the columns after them.
  if (oldWidth === newWidth && ![...before, ...after].some(isComposed)) {
    const by = before.length - after.length;
    while (to > from && to + by > from && isSame(before[to + by - 1], after[to - 1])) to--;
  }
  const column = widthOf(after.slice(0, from));
  const changed = after.slice(from, to);
  return {
    column,
    text: textOf(changed),
    end: column + widthOf(changed),
    clears: newWidth < oldWidth || before.some(isComposed),
  };
}

function cellsOf(line: Harmless): Cell[] {
  const cells: Cell[] = [];
  let codes: string[] = [];
  let at = 0;
  const add = (to: number): void => {
    const colours = joined(
      codes.map((number) => shown`\u001B[${Number(number)}m`),
      "",
    );
    const text = part(line, at, to);
    for (const { segment, index } of SEGMENTER.segment(text)) {
      const width = segment.length === 1 && segment < "\u007F" ? 1 : stringWidth(segment);
      cells.push({ text: part(text, index, index + segment.length), width, colours });
    }
  };
  for (const { 0: code, 1: number = "", index } of line.matchAll(COLOUR)) {
    add(index);
    at = index + code.length;
    codes = codes.filter((one) => RESETS[number]?.test(one) !== true);
    if (!(number in RESETS)) codes.push(number);
  }
  add(line.length);
  return cells;
}

/** The styles that each reset code switches off. */
const RESETS: Readonly<Record<string, RegExp>> = {
  0: /./,
  22: /^[12]$/,
  23: /^3$/,
  24: /^4$/,
  27: /^7$/,
  29: /^9$/,
  39: /^(?:3|9)\d$/,
  49: /^(?:4|10)\d$/,
};

function textOf(cells: readonly Cell[]): Harmless {
  let current = shown``;
  const parts = cells.map(({ text, colours }) => {
    const change = colours === current ? shown`` : shown`${current ? RESET : shown``}${colours}`;
    current = colours;
    return shown`${change}${text}`;
  });
  return shown`${joined(parts, "")}${current ? RESET : shown``}`;
}

function isSame(one: Cell | undefined, other: Cell | undefined): boolean {
  return one?.text === other?.text && one?.colours === other?.colours;
}

/** Whether it consists of several UTF-16 units. */
function isComposed({ text }: Cell): boolean {
  return text.length > 1;
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}
