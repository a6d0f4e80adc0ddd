import type { Failure, FileBackend, FileEntry, FileResult, TextEdit } from "./backend.ts";
import { exclusive } from "./exclusive.ts";
import { fail } from "./failures.ts";
import type { IgnoreRules } from "./ignore-rules.ts";
import { nearPaths } from "./near.ts";
import { walk, type FileOperations } from "./operations.ts";
import { foldersAbove, inOrder, parsePath, segmentsOf } from "./paths.ts";
import { replaceText } from "./replace-text.ts";
import { globFolder, grepAt, ignoreRules } from "./search.ts";

const MAX_EDIT_ATTEMPTS = 100;
const MAX_PATHS_COMPARED = 5000;

/** Makes a backend out of the few operations that differ from place to place. */
export function createBackend(operations: FileOperations): FileBackend {
  const at = async <T extends object>(
    kind: "file" | "folder",
    raw: string,
    act: (path: string) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> => {
    const parsed = parsePath(raw);
    if (!parsed.ok) return parsed;
    const result = await act(parsed.path);
    if (result.ok || result.reason !== "missing") return result;
    return withNear(result, parsed.path, await known(operations, kind));
  };
  return {
    list: (raw) =>
      at("folder", raw, async (path) => {
        const result = await operations.list(path);
        if (!result.ok) return result;
        const entries = await marked(result.entries, ignoreRules(operations, segmentsOf(path)));
        return { ok: true, entries: entries.toSorted((a, b) => inOrder(a.name, b.name)) };
      }),
    read: (raw) => at("file", raw, (path) => operations.read(path)),
    write: (raw, content) => at("file", raw, (path) => operations.write(path, content)),
    delete: (raw) => at("file", raw, (path) => operations.delete(path)),
    // Edits of one backend wait for each other, or most of many at once would be made several times over.
    edit: (raw, edit) =>
      at("file", raw, (path) => exclusive(operations, path, () => editFile(operations, path, edit))),
    glob: (pattern, scope = {}) =>
      at("folder", scope.path ?? "/", (path) => globFolder(operations, path, { ...scope, pattern })),
    grep: (query) => at("folder", query.path ?? "/", (path) => grepAt(operations, path, query)),
    ...(operations.locate && { locate: (path: string) => operations.locate!(path) }),
  };
}

/** The entries, with a mark on those that are ignored. */
async function marked(entries: readonly FileEntry[], rules: IgnoreRules): Promise<FileEntry[]> {
  return Promise.all(
    entries.map(async (entry) => {
      const isIgnored = await rules.skips(entry.path, entry.isDirectory);
      return isIgnored ? { ...entry, isIgnored } : entry;
    }),
  );
}

/** Reads, replaces, and writes only if nobody else has written in between; otherwise from the start. */
async function editFile(
  operations: FileOperations,
  path: string,
  edit: TextEdit,
): Promise<FileResult<{ lines: number[] }>> {
  for (let attempt = 0; attempt < MAX_EDIT_ATTEMPTS; attempt += 1) {
    const file = await operations.read(path);
    if (!file.ok) return file;
    const replaced = replaceText(file.content, edit);
    if (!replaced.ok) return fail(`"${path}" was not changed. ${replaced.error}`);
    const written = await operations.swap(path, file.content, replaced.content);
    if (!written.ok) return written;
    if (written.swapped) return { ok: true, lines: replaced.lines };
  }
  return fail(`"${path}" was not changed: others keep changing it. Read it again and retry.`);
}

/** The first few thousand files, or the folders that hold them. */
async function known(operations: FileOperations, kind: "file" | "folder"): Promise<Set<string>> {
  const paths = new Set<string>();
  for await (const file of walk(operations, "/", { names: [] })) {
    for (const path of kind === "file" ? [file] : foldersAbove(file).slice(0, -1)) paths.add(path);
    if (paths.size >= MAX_PATHS_COMPARED) break;
  }
  return paths;
}

/** Adds to a failure what may have been meant. */
function withNear(failure: Failure, path: string, paths: Iterable<string>): Failure {
  const near = nearPaths(path, paths).map((candidate) => `"${candidate}"`);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "List the folders to see what is there.";
  return { ...failure, error: `${failure.error} ${hint}` };
}
