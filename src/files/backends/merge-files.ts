import { mergeText } from "../text/index.ts";
import { entriesIn, FileTable, pathOfKey, textOfFile, type FileChange } from "./file-table.ts";

/**
 * A write to files in state: for each file its whole text, null to delete it, or a change with the text it
 * started from. A change is an object and the others are not, so they stay apart in JSON too.
 */
export type FilesUpdate = Record<string, string | null | FileChange>;

/**
 * The reducer for files in state. Changes of different files all get through; changes of one file are merged
 * from the text they started from. Where two changes conflict, the later one wins there, and the file as the
 * earlier one left it is kept beside it as `<name>.conflict-<n>`. An edit outlives a delete made without
 * knowing of it. A record of DeepAgents with a `content` is that text. Never throws; anything else is ignored.
 */
export function mergeFiles(
  current: Record<string, string> | undefined,
  update: FilesUpdate | undefined,
): Record<string, string> {
  const table = new FileTable(current);
  let changed = current === undefined || current === null;
  for (const [key, value] of entriesIn(update)) {
    const was = table.get(pathOfKey(key));
    const content = value === null ? null : isChange(value) ? settle(table, key, value) : textOfFile(value);
    if (typeof content === "string" && content !== was) table.setKey(key, content);
    else if (content === null && was !== undefined) table.delete(pathOfKey(key));
    else continue;
    changed = true;
  }
  return changed ? table.toRecord() : current!;
}

/** The changes from one record of files to another: an update for `mergeFiles`. */
export function diffFiles(
  before: Record<string, string> | undefined,
  after: Record<string, string> | undefined,
): Record<string, FileChange> {
  return new FileTable(before).changesTo(new FileTable(after));
}

/** The text that a file gets from a change; null for none. Keeps the loser of a conflict. */
function settle(table: FileTable, key: string, { base, content }: FileChange): string | null {
  const current = table.get(pathOfKey(key)) ?? null;
  if (current === base || current === content) return content;
  if (content === null || content === base) return current;
  if (current === null) return content;
  const merged = base === null ? { text: content, conflicts: 1 } : mergeText(base, current, content);
  if (merged.conflicts > 0) keepLoser(table, table.keyOf(pathOfKey(key)), current);
  return merged.text;
}

function keepLoser(table: FileTable, key: string, content: string): void {
  for (let n = 1; ; n += 1) {
    const name = `${key}.conflict-${n}`;
    const there = table.get(pathOfKey(name));
    if (there === content) return;
    if (there === undefined) return table.setKey(name, content);
  }
}

function isChange(value: unknown): value is FileChange {
  const { base, content } = Object.fromEntries(entriesIn(value));
  return isTextOrNull(base) && isTextOrNull(content);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
