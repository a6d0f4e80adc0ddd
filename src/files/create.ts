import type { Failure, FileBackend, FileEntry, FileResult, TextEdit } from "./backend.ts";
import { exclusive } from "./exclusive.ts";
import { fail } from "./failures.ts";
import { nearPaths } from "./near.ts";
import { walk, type FileOperations } from "./operations.ts";
import { foldersAbove, inOrder, parsePath, segmentsOf } from "./paths.ts";
import { replaceText } from "./replace-text.ts";
import { globFolder, grepAt, ignoreRules } from "./search.ts";
import { Sweep } from "./sweep.ts";

const MAX_EDIT_ATTEMPTS = 100;
const MAX_PATHS_COMPARED = 5000;
const MAX_BYTES = 10_000_000;

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
    list: (raw, options) =>
      at("folder", raw, async (path) => {
        const result = await operations.list(path, options);
        if (!result.ok) return result;
        const entries = await marked(
          result.entries,
          await ignoreRules(operations, segmentsOf(path)).skipsIn(path),
        );
        return { ok: true, entries: entries.toSorted((a, b) => inOrder(a.name, b.name)) };
      }),
    read: (raw) => at("file", raw, (path) => operations.read(path)),
    write: (raw, content) =>
      at("file", raw, async (path) => tooLarge(operations, path, content) ?? operations.write(path, content)),
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
async function marked(
  entries: readonly FileEntry[],
  skips: (path: string, isDirectory: boolean) => boolean,
): Promise<FileEntry[]> {
  const sweep = new Sweep();
  const all: FileEntry[] = [];
  for (const entry of entries) {
    if (sweep.isDue) await sweep.rest();
    const isIgnored = !sweep.stopped && skips(entry.path, entry.isDirectory);
    all.push(isIgnored ? { ...entry, isIgnored } : entry);
  }
  return all;
}

/** The refusal of a text that could not be read again, if it is one. */
function tooLarge({ maxBytes = MAX_BYTES }: FileOperations, path: string, text: string): Failure | undefined {
  // No character takes more than three bytes for each of its code units.
  const isSmall = text.length * 3 <= maxBytes;
  const bytes = isSmall ? 0 : text.length > maxBytes ? text.length : Buffer.byteLength(text);
  if (bytes <= maxBytes) return undefined;
  return fail(
    `"${path}" was not written: the text has more than ${maxBytes} bytes, the most for one file. Write it in several files.`,
    "too-large",
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
    const replaced = replaceText(file.content, edit, operations.maxBytes ?? MAX_BYTES);
    if (!replaced.ok) return fail(`"${path}" was not changed. ${replaced.error}`);
    const refusal = tooLarge(operations, path, replaced.content);
    if (refusal) return refusal;
    const written = await operations.swap(path, file.content, replaced.content);
    if (!written.ok) return written;
    if (written.swapped) return { ok: true, lines: replaced.lines };
  }
  return fail(`"${path}" was not changed: others keep changing it. Read it again and retry.`);
}

/** The first few thousand files, or the folders that hold them. */
async function known(operations: FileOperations, kind: "file" | "folder"): Promise<Set<string>> {
  const paths = new Set<string>();
  for await (const file of walk(operations, "/", { names: [], sweep: new Sweep() })) {
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
