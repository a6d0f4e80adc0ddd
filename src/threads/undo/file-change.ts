import { structuredPatch } from "diff";
import { applyEdits, textEdits } from "../../middleware/files/index.ts";

/** The change of a file by a call. */
export interface FileChange {
  added: number;
  removed: number;
  /** Lines with `+`, `-` or a space in front, `@@` between parts. */
  lines: string[];
}

const CONTEXT = 3;
/** Longer texts are not compared. */
const MOST_LINES = 20_000;

/** The change by a call of a file tool, given the file's content; undefined for any other call. */
export function fileChange(name: string, args: unknown, content: string | undefined): FileChange | undefined {
  const values = (typeof args === "object" && args !== null ? args : {}) as Record<string, unknown>;
  const text = (key: string): string => (typeof values[key] === "string" ? values[key] : "");
  if (name === "write_file") return compared(content ?? "", text("content"));
  if (name === "delete_file") return compared(content ?? "", "");
  if (name !== "edit_file") return undefined;
  const edits = textEdits(values);
  const edited = content === undefined ? undefined : applyEdits(content, edits);
  if (content !== undefined && edited?.ok) return compared(content, edited.content);
  // If the edit does not fit the file, the texts of the call itself are compared.
  const joined = (key: "oldString" | "newString"): string => edits.map((edit) => edit[key]).join("\n");
  return compared(joined("oldString"), joined("newString"));
}

function compared(before: string, after: string): FileChange {
  const size = (text: string): number => text.split("\n").length;
  if (size(before) + size(after) > MOST_LINES) {
    return { added: size(after), removed: size(before), lines: ["@@ too long to be compared @@"] };
  }
  const { hunks } = structuredPatch("", "", before, after, "", "", { context: CONTEXT });
  const lines = hunks.flatMap((hunk, at) => [
    ...(at > 0 || hunk.oldStart > 1 ? [`@@ line ${hunk.newStart} @@`] : []),
    ...hunk.lines.filter((line) => !line.startsWith("\\")),
  ]);
  const count = (mark: string): number => lines.filter((line) => line.startsWith(mark)).length;
  return { added: count("+"), removed: count("-"), lines };
}
