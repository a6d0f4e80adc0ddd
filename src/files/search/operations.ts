import type { FileEntry, FileResult, GrepQuery, ListOptions } from "../backend/index.ts";
import { inOrder } from "../paths/index.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import type { Sweep } from "./sweep.ts";

/** Options of a walk through files. */
export interface WalkOptions {
  /** Names that the search spells out: these are wanted, even where they are usually skipped. */
  names: readonly string[];
  /** Skips nothing. */
  all?: boolean | undefined;
  /** Rules for what is left out. Files always are; leaving out whole folders saves the walk through them. */
  rules?: IgnoreRules | undefined;
  /** Ends the walk when its time is up, and is told what could not be read. */
  sweep: Sweep;
}

/**
 * The operations of a place for files; `createBackend` derives the rest. Paths arrive checked and normalized. A
 * failure because nothing is there has the reason "missing".
 */
export interface FileOperations {
  /** The largest file, in bytes. Default 10 MB. */
  readonly maxBytes?: number;
  list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>>;
  read(path: string): Promise<FileResult<{ content: string }>>;
  write(path: string, content: string): Promise<FileResult<{ created: boolean }>>;
  /** Writes only if the file's content is `before`, in one step; `swapped` says whether it was. */
  swap(path: string, before: string, content: string): Promise<FileResult<{ swapped: boolean }>>;
  /** Default, for both: its text, in UTF-8. */
  readBytes?(path: string): Promise<FileResult<{ bytes: Uint8Array }>>;
  writeBytes?(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>>;
  /** Deletes a file. A folder is refused with the reason "folder". */
  delete(path: string): Promise<FileResult>;
  /** Deletes a folder and all that is in it. Default: file by file. */
  deleteFolder?(path: string): Promise<FileResult>;
  /** The path that is meant by one that may be an address on the host. Must not fail. */
  locate?(path: string): Promise<string>;
  /** See `FileBackend.isUnchanged`. Must not fail. */
  isUnchanged?(path: string, file: { bytes: Uint8Array; since: number | undefined }): Promise<boolean>;
  /** The files below a folder, sorted; none if there is no such folder. Default: by listing every folder. */
  walk?(folder: string, options: WalkOptions): AsyncIterable<string>;
  /** The files below a folder that may match a search, sorted; undefined when it cannot tell. */
  candidates?(folder: string, query: GrepQuery, options: WalkOptions): Promise<string[] | undefined>;
}

/** The files below a folder, in order. */
export function walk(
  operations: FileOperations,
  folder: string,
  options: WalkOptions,
): AsyncIterable<string> {
  const files = paced(
    operations.walk?.(folder, options) ?? walkFolders(operations, folder, options),
    options.sweep,
  );
  return options.rules ? withoutIgnored(files, options.rules) : files;
}

/** The files that no rule leaves out. */
export async function* withoutIgnored(
  files: AsyncIterable<string> | Iterable<string>,
  rules: IgnoreRules,
): AsyncGenerator<string> {
  for await (const file of files) if (!(await rules.skips(file, false))) yield file;
}

async function* paced(files: AsyncIterable<string>, sweep: Sweep): AsyncGenerator<string> {
  for await (const file of files) {
    if (sweep.isDue) await sweep.rest();
    if (sweep.stopped) return;
    yield file;
  }
}

async function* walkFolders(
  operations: FileOperations,
  folder: string,
  options: WalkOptions,
): AsyncGenerator<string> {
  const listed = await operations.list(folder);
  if (!listed.ok) {
    if (listed.reason !== "missing") options.sweep.miss(folder);
    return;
  }
  for (const { path, isDirectory } of inWalkOrder(listed.entries)) {
    if (!isDirectory) yield path;
    else if (!(await options.rules?.skips(path, true))) yield* walkFolders(operations, path, options);
  }
}

/** Sorts the entries of a folder so that walking into its folders on the way gives whole paths in order. */
export function inWalkOrder<T extends { name: string; isDirectory: boolean }>(entries: readonly T[]): T[] {
  return entries
    .map((entry) => ({ entry, key: entry.isDirectory ? `${entry.name}/` : entry.name }))
    .toSorted((a, b) => inOrder(a.key, b.key))
    .map(({ entry }) => entry);
}
