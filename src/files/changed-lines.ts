import { structuredPatch } from "diff";

/** Between texts that differ more, the difference is not looked for: it would take long and say little. */
const MAX_EDITS = 200;
const MAX_TEXT = 100_000;
const MAX_LINES = 40;
const MAX_LINE = 200;

/** The changed lines between two texts with a line around them, whole; undefined where they are too many. */
export function changedLines(before: string, after: string): string | undefined {
  if (Math.max(before.length, after.length) > MAX_TEXT) return undefined;
  const options = { context: 1, maxEditLength: MAX_EDITS };
  const patch = structuredPatch("", "", before, after, "", "", options);
  const lines = (patch?.hunks ?? []).flatMap((hunk) => [`@@ line ${hunk.newStart}`, ...hunk.lines]);
  const isShort = lines.length <= MAX_LINES && lines.every((line) => line.length <= MAX_LINE);
  return lines.length > 0 && isShort ? lines.join("\n") : undefined;
}
