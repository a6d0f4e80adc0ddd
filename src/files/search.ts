import type { FileResult, GrepQuery, GrepResult, SearchScope } from "./backend.ts";
import { compileFilter, compileGlob } from "./glob.ts";
import { grepFiles } from "./grep.ts";
import { walk, type FileOperations, type WalkOptions } from "./operations.ts";
import { segmentsOf } from "./paths.ts";
import { compilePattern } from "./pattern.ts";

/** Finds files by a glob, in a folder. */
export async function globFolder(
  operations: FileOperations,
  folder: string,
  { pattern, include, signal }: SearchScope & { pattern: string },
): Promise<FileResult<{ paths: string[] }>> {
  signal?.throwIfAborted();
  const compiled = compileGlob(pattern, folder);
  if (!compiled.ok) return compiled;
  const there = await folderAt(operations, folder);
  if (!there.ok) return there;
  const { glob } = compiled;
  const paths: string[] = [];
  for await (const path of walk(operations, glob.folder, { names: glob.names, signal })) {
    signal?.throwIfAborted();
    if (glob.matches(path) && (include?.(path) ?? true)) paths.push(path);
  }
  return { ok: true, paths };
}

/** Finds lines in a file or in the files of a folder. */
export async function grepAt(
  operations: FileOperations,
  start: string,
  query: GrepQuery,
): Promise<FileResult<GrepResult>> {
  query.signal?.throwIfAborted();
  const pattern = compilePattern(query);
  if (!pattern.ok) return pattern;
  const filter = query.glob === undefined ? undefined : compileFilter(query.glob, start);
  if (filter && !filter.ok) return filter;
  const names = filter?.glob.names ?? segmentsOf(start);
  const found = await filesToSearch(operations, start, { query, names, signal: query.signal });
  if (!found.ok) return found;
  const wanted = (path: string): boolean =>
    (filter?.glob.matches(path) ?? true) && (query.include?.(path) ?? true);
  const source = {
    paths: filtered(found.paths, wanted),
    read: (path: string) => operations.read(path),
    matcher: pattern.matcher,
  };
  return { ok: true, ...(await grepFiles(source, query)) };
}

async function filesToSearch(
  operations: FileOperations,
  start: string,
  { query, ...options }: WalkOptions & { query: GrepQuery },
): Promise<FileResult<{ paths: AsyncIterable<string> | Iterable<string> }>> {
  const folder = await folderAt(operations, start);
  if (folder.ok) {
    const candidates = await operations.candidates?.(start, query, options);
    return { ok: true, paths: candidates ?? walk(operations, start, options) };
  }
  if (folder.reason === "missing") return folder;
  const file = await operations.read(start);
  return file.ok ? { ok: true, paths: [start] } : file;
}

async function folderAt(operations: FileOperations, path: string): Promise<FileResult> {
  return path === "/" ? { ok: true } : operations.list(path);
}

async function* filtered(
  paths: AsyncIterable<string> | Iterable<string>,
  wanted: (path: string) => boolean,
): AsyncGenerator<string> {
  for await (const path of paths) if (wanted(path)) yield path;
}
