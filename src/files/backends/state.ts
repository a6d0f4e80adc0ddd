import type { Failure, FileBackend, FileResult } from "../backend/backend.ts";
import { fileInTheWay, isFile, isFolder, noSuchFile, noSuchFolder } from "../backend/failures.ts";
import { foldersAbove, inOrder, isWithin } from "../paths/paths.ts";
import type { FileOperations } from "../search/operations.ts";
import { createBackend } from "./create.ts";
import { entriesOf, FileTable, pathOfKey, type FileChange } from "./file-table.ts";
import { packBytes, packedSize, packText, unpackBytes, unpackText } from "./packed.ts";

/** A backend over files in graph state. */
export interface StateBackend extends FileBackend {
  /** The files as they are now, under the keys they were seeded with or first written to. */
  files(): Record<string, string>;
  /** The changes since the seed: an update for `mergeFiles`. */
  changes(): Record<string, FileChange>;
}

/**
 * Files in a plain record, such as `files` in graph state, which is never written to: changes are collected.
 * "report.md" and "/report.md" name the same file.
 */
export function stateFiles(files: Record<string, string>): StateBackend {
  const seed = new FileTable(files);
  const table = new FileTable(files);
  const backend = createBackend(tableOperations(table));
  /** A new file keeps the spelling of its first writer, so "report.md" is found as `files["report.md"]`. */
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

/** File operations on a table. None waits in the middle, so each is one step for everybody else. */
function tableOperations(table: FileTable): FileOperations {
  const below = (folder: string): string[] =>
    table.paths().filter((path) => path !== folder && isWithin(path, folder));
  const notAFile = (path: string): Failure =>
    path === "/" || table.isFolder(path) ? isFolder(path) : noSuchFile(path);

  const put = (path: string, content: string): FileResult<{ created: boolean }> => {
    const created = table.get(path) === undefined;
    if (created) {
      const file = foldersAbove(path).find((folder) => table.get(folder) !== undefined);
      if (file !== undefined) return fileInTheWay(path, file);
      const problem = notAFile(path);
      if (problem.reason !== "missing") return problem;
    }
    table.set(path, content);
    return { ok: true, created };
  };

  return {
    async list(path) {
      const files = below(path);
      if (files.length === 0 && path !== "/") {
        return table.get(path) === undefined ? noSuchFolder(path) : isFile(path);
      }
      return {
        ok: true,
        entries: entriesOf(
          path,
          files.map((file) => [file, packedSize(table.get(file)!)] as const),
        ),
      };
    },
    async read(path) {
      const content = table.get(path);
      return content === undefined ? notAFile(path) : unpackText(content, path);
    },
    async readBytes(path) {
      const content = table.get(path);
      return content === undefined ? notAFile(path) : { ok: true, bytes: unpackBytes(content) };
    },
    write: async (path, content) => put(path, packText(content)),
    writeBytes: async (path, bytes) => put(path, packBytes(bytes)),
    async swap(path, before, content) {
      const current = table.get(path);
      if (current === undefined) return notAFile(path);
      const swapped = current === packText(before);
      if (swapped) table.set(path, packText(content));
      return { ok: true, swapped };
    },
    async delete(path) {
      return table.delete(path) ? { ok: true } : notAFile(path);
    },
    async *walk(folder) {
      yield* below(folder).toSorted(inOrder);
    },
  };
}
