import { diffArrays } from "diff";

/** The maximum number of differing lines or words. A change with more counts as one piece, as comparing is slow. */
const MAX_DIFFERENCES = 1000;

interface MergedText {
  /** Both changes; where they conflict, that of `theirs`. */
  text: string;
  /** The number of places that both sides changed differently. */
  conflicts: number;
}

/**
 * Merges two changes of one text by lines, and by words where both change the same or adjacent lines. Two changes
 * conflict if there is not even a word between them.
 */
export function mergeText(base: string, ours: string, theirs: string): MergedText {
  return settle([base, ours, theirs], (texts) =>
    merge(texts, toLines, (lines) =>
      merge(lines, toWords, ([, , theirWords]) => ({ text: theirWords, conflicts: 1 })),
    ),
  );
}

type Sides = [base: string, ours: string, theirs: string];

/** A range of base tokens, from `start` up to `end`, and its replacement on one side. */
interface Hunk {
  side: "ours" | "theirs";
  start: number;
  end: number;
  tokens: string[];
}

function merge(
  [base, ours, theirs]: Sides,
  split: (text: string) => string[],
  onConflict: (sides: Sides) => MergedText,
): MergedText {
  const tokens = split(base);
  const hunks = [
    ...hunksOf(tokens, split(ours), "ours"),
    ...hunksOf(tokens, split(theirs), "theirs"),
  ].toSorted((a, b) => a.start - b.start || a.end - b.end);
  const pieces: string[] = [];
  let conflicts = 0;
  let position = 0;
  for (const group of touching(hunks)) {
    const start = group[0]!.start;
    const end = Math.max(...group.map((hunk) => hunk.end));
    const textOf = (side?: Hunk["side"]): string => {
      const hunksOfSide = group.filter((hunk) => hunk.side === side);
      return patched(tokens, hunksOfSide, [start, end]);
    };
    const merged = settle([textOf(), textOf("ours"), textOf("theirs")], onConflict);
    pieces.push(tokens.slice(position, start).join(""), merged.text);
    conflicts += merged.conflicts;
    position = end;
  }
  pieces.push(tokens.slice(position).join(""));
  return { text: pieces.join(""), conflicts };
}

/** The changed side; calls `onConflict` if both have changed. */
function settle(sides: Sides, onConflict: (sides: Sides) => MergedText): MergedText {
  const [base, ours, theirs] = sides;
  if (ours === theirs || theirs === base) return { text: ours, conflicts: 0 };
  if (ours === base) return { text: theirs, conflicts: 0 };
  return onConflict(sides);
}

/** Groups hunks that have nothing unchanged between them. */
function touching(hunks: readonly Hunk[]): Hunk[][] {
  const groups: Hunk[][] = [];
  let end = -1;
  for (const hunk of hunks) {
    if (hunk.start <= end) groups.at(-1)!.push(hunk);
    else groups.push([hunk]);
    end = Math.max(end, hunk.end);
  }
  return groups;
}

/** The base tokens from `start` up to `end` with the hunks of one side applied. */
function patched(
  tokens: readonly string[],
  hunks: readonly Hunk[],
  [start, end]: readonly [start: number, end: number],
): string {
  const pieces: string[] = [];
  let position = start;
  for (const hunk of hunks) {
    pieces.push(tokens.slice(position, hunk.start).join(""), hunk.tokens.join(""));
    position = hunk.end;
  }
  pieces.push(tokens.slice(position, end).join(""));
  return pieces.join("");
}

function hunksOf(base: string[], changed: string[], side: Hunk["side"]): Hunk[] {
  const parts = diffArrays(base, changed, { maxEditLength: MAX_DIFFERENCES });
  if (!parts) return [wholeHunk(base, changed, side)];
  const hunks: Hunk[] = [];
  let at = 0;
  let open: Hunk | undefined;
  for (const { value, added, removed } of parts) {
    if (!added && !removed) {
      at += value.length;
      open = undefined;
      continue;
    }
    if (!open) hunks.push((open = { side, start: at, end: at, tokens: [] }));
    if (added) open.tokens = open.tokens.concat(value);
    else open.end = at += value.length;
  }
  return hunks;
}

/** One hunk for everything between the first and the last difference. */
function wholeHunk(base: readonly string[], changed: readonly string[], side: Hunk["side"]): Hunk {
  const shorter = Math.min(base.length, changed.length);
  let start = 0;
  while (start < shorter && base[start] === changed[start]) start += 1;
  let tail = 0;
  while (tail < shorter - start && base.at(-1 - tail) === changed.at(-1 - tail)) tail += 1;
  return { side, start, end: base.length - tail, tokens: changed.slice(start, changed.length - tail) };
}

/** Splits a text into lines with their endings. */
function toLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Splits a text into words, line breaks, other white space, and single other characters. */
function toWords(text: string): string[] {
  return text.match(/[\p{L}\p{N}_]+|\r?\n|[^\S\r\n]+|[^]/gu) ?? [];
}
