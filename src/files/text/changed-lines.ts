import { structuredPatch } from "diff";
import { cutLine } from "./number-lines.ts";

/** The maximum difference to compute: a larger one would take long and say little. */
const MAX_EDITS = 200;
const MAX_TEXT = 100_000;
const MAX_LINES = 40;
const MAX_LINE = 200;

const CONTEXT = 2;
/** The maximum length of a part. The middle of a longer one is left out, if that saves `SHORTEST_GAP` lines. */
const MAX_PART = 16;
const SHORTEST_GAP = 4;
const MAX_SHOWN = 60;

/** The changed lines of `after`, numbered, with two lines of context; undefined if there are none or too many. */
export function changedRegions(before: string, after: string): string | undefined {
  if (Math.max(before.length, after.length) > MAX_TEXT * 10) return undefined;
  const options = { context: CONTEXT, maxEditLength: MAX_EDITS * 5 };
  const patch = structuredPatch("", "", before, after, "", "", options);
  const parts = (patch?.hunks ?? []).map(({ newStart, lines }) => {
    const newLines = lines.filter((line) => line.startsWith("+") || line.startsWith(" "));
    const numbered = newLines.map(
      (line, at) =>
        `${String(newStart + at).padStart(6)}\t${cutLine(line.slice(1).replace(/\r$/, ""), MAX_LINE)}`,
    );
    if (numbered.length < MAX_PART + SHORTEST_GAP) return numbered;
    const half = MAX_PART / 2;
    const gap = `   ... ${numbered.length - MAX_PART} more as you gave them`;
    return [...numbered.slice(0, half), gap, ...numbered.slice(-half)];
  });
  const lines = parts.flatMap((part, at) => (at > 0 ? ["   ...", ...part] : part));
  if (lines.length === 0) return undefined;
  return lines.length <= MAX_SHOWN
    ? lines.join("\n")
    : [...lines.slice(0, MAX_SHOWN), `   ... and more in ${parts.length} places`].join("\n");
}

/** The changed lines between two texts with a line of context, in full; undefined if there are none or too many. */
export function changedLines(before: string, after: string): string | undefined {
  if (Math.max(before.length, after.length) > MAX_TEXT) return undefined;
  const options = { context: 1, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  const lines = (patch?.hunks ?? []).flatMap((hunk) => [`@@ line ${hunk.newStart}`, ...hunk.lines]);
  const isShort = lines.length <= MAX_LINES && lines.every((line) => line.length <= MAX_LINE);
  return lines.length > 0 && isShort ? lines.join("\n") : undefined;
}
