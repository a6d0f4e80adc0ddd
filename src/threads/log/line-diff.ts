import { structuredPatch } from "diff";

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Its number before and after, from 1. */
  before?: number;
  after?: number;
}

/** Changed lines with some context. */
export interface Hunk {
  lines: DiffLine[];
}

const CONTEXT = 3;
/** The most differences to compare: more take too long, and no one reads them. */
const MOST_DIFFERENCES = 1000;

/** The differences of two texts; undefined if they differ too much. */
export function lineDiff(before: string, after: string): Hunk[] | undefined {
  if (before === "" || after === "") return wholeDiff(before, after);
  const patch = structuredPatch("", "", before, after, "", "", {
    context: CONTEXT,
    maxEditLength: MOST_DIFFERENCES,
  });
  return patch?.hunks.map(({ oldStart, newStart, lines }) => {
    let [old, now] = [oldStart, newStart];
    return {
      lines: lines
        .filter((line) => !line.startsWith("\\"))
        .map((line): DiffLine => {
          const text = line.slice(1);
          if (line.startsWith("+")) return { kind: "added", text, after: now++ };
          if (line.startsWith("-")) return { kind: "removed", text, before: old++ };
          return { kind: "same", text, before: old++, after: now++ };
        }),
    };
  });
}

/** The difference of a file that was created or removed. */
function wholeDiff(before: string, after: string): Hunk[] {
  const text = before + after;
  if (text === "") return [];
  const lines = text.replace(/\n$/, "").split("\n");
  return [
    {
      lines: lines.map((line, index) =>
        before === ""
          ? { kind: "added", text: line, after: index + 1 }
          : { kind: "removed", text: line, before: index + 1 },
      ),
    },
  ];
}
