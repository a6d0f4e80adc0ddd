import type { FileEntry, FileResult, GrepQuery, ListOptions } from "../backend/index.ts";
import { inOrder } from "../paths/index.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import type { SearchPass } from "./search-pass.ts";

/** Options of a walk through files. */
export interface WalkOptions {
  /** Names that the search spells out. These are not skipped. */
  names: readonly string[];
  /** Skips nothing. */
  all?: boolean;
  /** Ignore rules. They are always applied to files; applying them to folders too saves walking these. */
  rules?: IgnoreRules;
  /** Ends the walk at its time limit, and collects paths that could not be read. */
  pass: SearchPass;
}

/**
 * The operations that a kind of storage implements; `createBackend` derives the rest. Paths arrive valid and
 * normalized. A failure for a missing path has the reason "missing".
 */
export interface FileOperations {
  /** The largest file, in bytes. Default 10 MB. */
  readonly maxBytes?: number;
  list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>>;
  read(path: string): Promise<FileResult<{ content: string }>>;
  write(path: string, content: string): Promise<FileResult<{ created: boolean }>>;
  /** Writes only if the file's content is `before`, atomically. `swapped`: whether it was. */
  swap(path: string, before: string, content: string): Promise<FileResult<{ swapped: boolean }>>;
  /** Default for both: `read` and `write` with UTF-8 text. */
  readBytes?(path: string): Promise<FileResult<{ bytes: Uint8Array }>>;
  writeBytes?(path: string, bytes: Uint8Array): Promise<FileResult<{ created: boolean }>>;
  /** Deletes a file. A folder is refused with the reason "folder". */
  delete(path: string): Promise<FileResult>;
  /** Deletes a folder with its contents. Default: file by file. */
  deleteFolder?(path: string): Promise<FileResult>;
  /** See `FileBackend.locate`. Must not fail. */
  locate?(path: string): Promise<string>;
  /** See `FileBackend.isUnchanged`. Must not fail. */
  isUnchanged?(path: string, file: { bytes: Uint8Array; since: number | undefined }): Promise<boolean>;
  /** The files below a folder, sorted; none if there is no such folder. Default: by listing every folder. */
  walk?(folder: string, options: WalkOptions): AsyncIterable<string>;
  /** The files below a folder that may match a search, sorted; undefined if unknown. */
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
    options.pass,
  );
  return options.rules ? withoutIgnored(files, options.rules) : files;
}

/** The files that are not ignored. */
export async function* withoutIgnored(
  files: AsyncIterable<string> | Iterable<string>,
  rules: IgnoreRules,
): AsyncGenerator<string> {
  for await (const file of files) if (!(await rules.skips(file, false))) yield file;
}

async function* paced(files: AsyncIterable<string>, pass: SearchPass): AsyncGenerator<string> {
  for await (const file of files) {
    if (pass.isDue) await pass.rest();
    if (pass.stopped) return;
    yield file;
  }
}

async function* walkFolders(
  operations: FileOperations,
  folder: string,
  options: WalkOptions,
): AsyncGenerator<string> {
  const listing = await operations.list(folder);
  if (!listing.ok) {
    if (listing.reason !== "missing") options.pass.miss(folder);
    return;
  }
  for (const { path, isDirectory } of inWalkOrder(listing.entries)) {
    if (!isDirectory) yield path;
    else if (!(await options.rules?.skips(path, true))) yield* walkFolders(operations, path, options);
  }
}

/** Sorts the entries of a folder so that a depth-first walk gives full paths in order. */
export function inWalkOrder<T extends { name: string; isDirectory: boolean }>(entries: readonly T[]): T[] {
  return entries
    .map((entry) => ({ entry, key: entry.isDirectory ? `${entry.name}/` : entry.name }))
    .toSorted((a, b) => inOrder(a.key, b.key))
    .map(({ entry }) => entry);
}
