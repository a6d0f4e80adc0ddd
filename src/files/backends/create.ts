import {
  type Failure,
  type FileBackend,
  type FileEntry,
  type FileResult,
  type TextEdit,
  fail,
} from "../backend/index.ts";
import { foldersAbove, inOrder, parsePath, segmentsOf } from "../paths/index.ts";
import { walk, type FileOperations, globFolder, grepAt, ignoreRules, SearchPass } from "../search/index.ts";
import { decodeText, nearPaths, replaceText } from "../text/index.ts";
import { exclusive } from "./exclusive.ts";

const MAX_EDIT_ATTEMPTS = 100;
const MAX_PATHS_COMPARED = 5000;
const MAX_BYTES = 10_000_000;

/**
 * Creates a backend from the operations that differ between kinds of storage.
 *
 * @example
 * ```ts
 * import { createBackend } from "holdfast/files";
 *
 * const entries = [{ name: "hello.txt", path: "/hello.txt", isDirectory: false }];
 * const refuse = async () => ({ ok: false as const, error: "Only /hello.txt is here, to be read." });
 * const list = async () => ({ ok: true as const, entries });
 * const read = async (path: string) =>
 *   path === "/hello.txt" ? { ok: true as const, content: "Hello" } : refuse();
 * const backend = createBackend({ list, read, write: refuse, swap: refuse, delete: refuse });
 * ```
 */
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
    return withNear(result, parsed.path, await pathsToCompare(operations, kind));
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
    readBytes: (raw) => at("file", raw, (path) => readBytes(operations, path)),
    write: (raw, content) =>
      at("file", raw, async (path) => tooLarge(operations, path, content) ?? operations.write(path, content)),
    writeBytes: (raw, bytes) =>
      at(
        "file",
        raw,
        async (path) => tooLarge(operations, path, bytes) ?? writeBytes(operations, path, bytes),
      ),
    delete: (raw) => at("file", raw, (path) => deleteAny(operations, path)),
    // Edits of one file run one by one; otherwise most of many concurrent ones would be retried.
    edit: (raw, edit) =>
      at("file", raw, (path) => exclusive(operations, path, () => editFile(operations, path, edit))),
    glob: (pattern, scope = {}) =>
      at("folder", scope.path ?? "/", (path) => globFolder(operations, path, { ...scope, pattern })),
    grep: (query) => at("folder", query.path ?? "/", (path) => grepAt(operations, path, query)),
    ...(operations.isUnchanged && {
      isUnchanged: async (raw, file) => {
        const parsed = parsePath(raw);
        return parsed.ok && (await operations.isUnchanged!(parsed.path, file));
      },
    }),
    ...(operations.locate && { locate: (path: string) => operations.locate!(path) }),
  };
}

/** Marks the entries that are ignored. */
async function marked(
  entries: readonly FileEntry[],
  skips: (path: string, isDirectory: boolean) => boolean,
): Promise<FileEntry[]> {
  const pass = new SearchPass();
  const all: FileEntry[] = [];
  for (const entry of entries) {
    if (pass.isDue) await pass.rest();
    const isIgnored = !pass.stopped && skips(entry.path, entry.isDirectory);
    all.push(isIgnored ? { ...entry, isIgnored } : entry);
  }
  return all;
}

/** Refuses a content that is too large to be read again. */
function tooLarge(
  { maxBytes = MAX_BYTES }: FileOperations,
  path: string,
  content: string | Uint8Array,
): Failure | undefined {
  if (Buffer.byteLength(content) <= maxBytes) return undefined;
  return fail(
    `"${path}" was not written: it has more than ${maxBytes} bytes, the most for one file. Write it in several files.`,
    "too-large",
  );
}

async function readBytes(
  operations: FileOperations,
  path: string,
): Promise<FileResult<{ bytes: Uint8Array }>> {
  if (operations.readBytes) return operations.readBytes(path);
  const file = await operations.read(path);
  return file.ok ? { ok: true, bytes: Buffer.from(file.content) } : file;
}

async function writeBytes(
  operations: FileOperations,
  path: string,
  bytes: Uint8Array,
): Promise<FileResult<{ created: boolean }>> {
  if (operations.writeBytes) return operations.writeBytes(path, bytes);
  const text = decodeText(bytes, path);
  return text.ok ? operations.write(path, text.content) : text;
}

async function deleteAny(operations: FileOperations, path: string): Promise<FileResult> {
  if (path === "/") return fail(`"/" is the root of all files, and is not deleted.`);
  const deleted = await operations.delete(path);
  if (deleted.ok || deleted.reason !== "folder") return deleted;
  if (operations.deleteFolder) return operations.deleteFolder(path);
  const pass = new SearchPass();
  const files: string[] = [];
  for await (const file of walk(operations, path, { names: [], all: true, pass })) files.push(file);
  if (pass.notes.length > 0) return fail(`"${path}" was not deleted. ${pass.notes.join(" ")}`);
  for (const file of files) {
    const result = await operations.delete(file);
    if (!result.ok && result.reason !== "missing") return result;
  }
  return { ok: true };
}

/** Reads, replaces and writes; starts again if the file was changed in between. */
async function editFile(
  operations: FileOperations,
  path: string,
  edit: TextEdit,
): Promise<FileResult<{ lines: number[] }>> {
  for (let attempt = 0; attempt < MAX_EDIT_ATTEMPTS; attempt += 1) {
    const file = await operations.read(path);
    if (!file.ok) return file;
    const replacement = replaceText(file.content, edit, operations.maxBytes ?? MAX_BYTES);
    if (!replacement.ok) return fail(`"${path}" was not changed. ${replacement.error}`);
    const refusal = tooLarge(operations, path, replacement.content);
    if (refusal) return refusal;
    const result = await operations.swap(path, file.content, replacement.content);
    if (!result.ok) return result;
    if (result.swapped) return { ok: true, lines: replacement.lines };
  }
  return fail(`"${path}" was not changed: others keep changing it. Read it again and retry.`);
}

/** The first few thousand files, or their folders. */
async function pathsToCompare(operations: FileOperations, kind: "file" | "folder"): Promise<Set<string>> {
  const paths = new Set<string>();
  for await (const file of walk(operations, "/", { names: [], pass: new SearchPass() })) {
    for (const path of kind === "file" ? [file] : foldersAbove(file).slice(0, -1)) paths.add(path);
    if (paths.size >= MAX_PATHS_COMPARED) break;
  }
  return paths;
}

/** Adds the most similar paths to a failure. */
function withNear(failure: Failure, path: string, paths: Iterable<string>): Failure {
  const near = nearPaths(path, paths).map((candidate) => `"${candidate}"`);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "List the folders to see what is there.";
  return { ...failure, error: `${failure.error} ${hint}` };
}
