import type { FileResult, GrepQuery, GrepResult, SearchScope } from "../backend/index.ts";
import { segmentsOf, compileFilter, compileGlob } from "../paths/index.ts";
import { grepFiles } from "./grep.ts";
import { IgnoreRules } from "./ignore-rules.ts";
import { walk, withoutIgnored, type FileOperations, type WalkOptions } from "./operations.ts";
import { compilePattern } from "./pattern.ts";
import { SearchPass } from "./search-pass.ts";

/** Finds files in a folder by a glob. */
export async function globFolder(
  operations: FileOperations,
  folder: string,
  { pattern, include, signal, ignored }: SearchScope & { pattern: string },
): Promise<FileResult<{ paths: string[]; notes?: string[] }>> {
  signal?.throwIfAborted();
  const compiled = compileGlob(pattern, folder);
  if (!compiled.ok) return compiled;
  const listing = await folderAt(operations, folder);
  if (!listing.ok) return listing;
  const { glob } = compiled;
  const paths: string[] = [];
  const pass = new SearchPass({ signal });
  const options = walkOptions(operations, { names: glob.names, pass, all: ignored });
  for await (const path of walk(operations, glob.folder, options)) {
    signal?.throwIfAborted();
    if (glob.matches(path) && (include?.(path) ?? true)) paths.push(path);
  }
  const { notes } = pass;
  return { ok: true, paths, ...(notes.length > 0 && { notes }) };
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
  const pass = new SearchPass({ signal: query.signal });
  const options = walkOptions(operations, { names, pass, all: query.ignored });
  const files = await filesToSearch(operations, start, { query, ...options });
  if (!files.ok) return files;
  const isIncluded = (path: string): boolean =>
    (filter?.glob.matches(path) ?? true) && (query.include?.(path) ?? true);
  const source = {
    paths: filtered(files.paths, isIncluded),
    read: (path: string) => operations.read(path),
    matcher: pattern.matcher,
    pass,
  };
  return { ok: true, ...(await grepFiles(source, query)) };
}

/** Options of the walk for a search, with ignore rules unless `all` is set. */
function walkOptions(
  operations: FileOperations,
  { names, pass, all }: Omit<WalkOptions, "rules">,
): WalkOptions {
  return { names, pass, all, rules: all ? undefined : ignoreRules(operations, names) };
}

/** The rules of the `.gitignore` files among the files. */
export function ignoreRules(operations: FileOperations, names: readonly string[]): IgnoreRules {
  const read = async (path: string): Promise<string | undefined> => {
    const file = await operations.read(path);
    return file.ok ? file.content : undefined;
  };
  return new IgnoreRules({ read, names });
}

async function filesToSearch(
  operations: FileOperations,
  start: string,
  { query, ...options }: WalkOptions & { query: GrepQuery },
): Promise<FileResult<{ paths: AsyncIterable<string> | Iterable<string> }>> {
  const folder = await folderAt(operations, start);
  if (folder.ok) {
    const candidates = await operations.candidates?.(start, query, options);
    if (!candidates) return { ok: true, paths: walk(operations, start, options) };
    return { ok: true, paths: options.rules ? withoutIgnored(candidates, options.rules) : candidates };
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
  isIncluded: (path: string) => boolean,
): AsyncGenerator<string> {
  for await (const path of paths) if (isIncluded(path)) yield path;
}
