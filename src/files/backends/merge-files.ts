import { mergeText } from "../text/index.ts";
import { entriesIn, FileTable, pathOfKey, textOfFile, type FileChange } from "./file-table.ts";

/** A write to files in state: for each file its whole text, null to delete it, or a change with its base text. */
export type FilesUpdate = Record<string, string | null | FileChange>;

/**
 * The reducer for files in state. Concurrent changes of one file get a three-way merge. Where two changes conflict, the
 * later one wins, and the version of the earlier one is kept next to it as `<name>.conflict-<n>`. An edit wins over a
 * concurrent delete. DeepAgents' records with `content` count as that text. Never throws; other values are ignored.
 */
export function mergeFiles(
  current: Record<string, string> | undefined,
  update: FilesUpdate | undefined,
): Record<string, string> {
  const table = new FileTable(current);
  let changed = current === undefined || current === null;
  for (const [key, value] of entriesIn(update)) {
    const previous = table.get(pathOfKey(key));
    const content = value === null ? null : isChange(value) ? settle(table, key, value) : textOfFile(value);
    if (typeof content === "string" && content !== previous) table.setKey(key, content);
    else if (content === null && previous !== undefined) table.delete(pathOfKey(key));
    else continue;
    changed = true;
  }
  return changed ? table.toRecord() : current!;
}

/** The changes between two records of files, as an update for `mergeFiles`. */
export function diffFiles(
  before: Record<string, string> | undefined,
  after: Record<string, string> | undefined,
): Record<string, FileChange> {
  return new FileTable(before).changesTo(new FileTable(after));
}

/** The text of a file after a change; null for none. Keeps the losing version of a conflict. */
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
    const existing = table.get(pathOfKey(name));
    if (existing === content) return;
    if (existing === undefined) return table.setKey(name, content);
  }
}

function isChange(value: unknown): value is FileChange {
  const { base, content } = Object.fromEntries(entriesIn(value));
  return isTextOrNull(base) && isTextOrNull(content);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}
