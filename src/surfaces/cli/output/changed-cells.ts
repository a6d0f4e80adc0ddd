import stringWidth from "string-width";
import { joined, part, shown, type Harmless } from "./harmless.ts";

/** The output that turns one drawn row into another. */
export interface Change {
  /** Where it begins. */
  column: number;
  text: Harmless;
  /** The column behind it. */
  end: number;
  /** Whether something is left behind it that has to go. */
  clears: boolean;
}

/** A character as people see it, with the colours that are on. */
interface Cell {
  text: Harmless;
  width: number;
  colours: Harmless;
}

const RESET = shown`\u001B[m`;
const SEGMENTER = new Intl.Segmenter(undefined, { granularity: "grapheme" });
// oxlint-disable-next-line no-control-regex -- our own colours are control characters
const COLOUR = /\u001B\[(\d+)m/g;

/** The least that has to be written: from the first cell that differs to the last. */
export function changeOf(was: Harmless, line: Harmless): Change {
  const [before, after] = [cellsOf(was), cellsOf(line)];
  const [oldWidth, newWidth] = [widthOf(before), widthOf(after)];
  const front = before.findIndex((cell, at) => !isSame(cell, after[at]) || isOdd(cell));
  const from = front < 0 ? before.length : front;
  let to = after.length;
  // Terminals do not agree on the width of what is made of several characters, and so not on what is behind it.
  if (oldWidth === newWidth && ![...before, ...after].some(isOdd)) {
    const by = before.length - after.length;
    while (to > from && to + by > from && isSame(before[to + by - 1], after[to - 1])) to--;
  }
  const column = widthOf(after.slice(0, from));
  const changed = after.slice(from, to);
  return {
    column,
    text: textOf(changed),
    end: column + widthOf(changed),
    clears: newWidth < oldWidth || before.some(isOdd),
  };
}

function cellsOf(line: Harmless): Cell[] {
  const cells: Cell[] = [];
  let on: string[] = [];
  let at = 0;
  const add = (to: number): void => {
    const colours = joined(
      on.map((number) => shown`\u001B[${Number(number)}m`),
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
    on = on.filter((one) => ENDS[number]?.test(one) !== true);
    if (!(number in ENDS)) on.push(number);
  }
  add(line.length);
  return cells;
}

/** The styles that each reset code switches off. */
const ENDS: Readonly<Record<string, RegExp>> = {
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
  let on = shown``;
  const parts = cells.map(({ text, colours }) => {
    const turn = colours === on ? shown`` : shown`${on ? RESET : shown``}${colours}`;
    on = colours;
    return shown`${turn}${text}`;
  });
  return shown`${joined(parts, "")}${on ? RESET : shown``}`;
}

function isSame(one: Cell | undefined, other: Cell | undefined): boolean {
  return one?.text === other?.text && one?.colours === other?.colours;
}

function isOdd({ text }: Cell): boolean {
  return text.length > 1;
}

function widthOf(cells: readonly Cell[]): number {
  return cells.reduce((sum, { width }) => sum + width, 0);
}
