import type { FileBackend } from "../backend/index.ts";
import { createBackend } from "./create.ts";
import { exclusive } from "./exclusive.ts";
import { FileTable, pathOfKey, type FileChange } from "./file-table.ts";
import { recordOperations } from "./records.ts";

/** A backend for files in graph state. */
export interface StateBackend extends FileBackend {
  /** The current files, by the keys they were seeded with or first written to. */
  files(): Record<string, string>;
  /** The changes since the seed: an update for `mergeFiles`. */
  changes(): Record<string, FileChange>;
}

/**
 * A backend for files in a plain record, such as `files` in graph state. Collects changes and never modifies the
 * record. "report.md" and "/report.md" are the same file.
 */
export function stateFiles(files: Record<string, string>): StateBackend {
  const seed = new FileTable(files);
  const table = new FileTable(files);
  const operations = recordOperations({
    get: async (path) => table.get(path),
    put: async (path, content) => table.set(path, content),
    delete: async (path) => table.delete(path),
    all: async () => new Map(table.paths().map((path) => [path, table.get(path)!])),
    // One write at a time for all paths: a write also checks the folders above its file.
    exclusive: (_path, task) => exclusive(table, "", task),
  });
  const backend = createBackend(operations);
  /** Keeps the spelling of a new file, so that "report.md" becomes `files["report.md"]`. */
  const spelled = (path: string): string => {
    if (`/${path}` === pathOfKey(path)) table.spell(path);
    return path;
  };
  return {
    ...backend,
    write: (path, content) => backend.write(spelled(path), content),
    writeBytes: (path, bytes) => backend.writeBytes(spelled(path), bytes),
    files: () => table.toRecord(),
    changes: () => seed.changesTo(table),
  };
}
