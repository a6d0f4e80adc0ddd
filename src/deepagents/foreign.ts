import { fail } from "../files/backend/index.ts";
import { exclusive, textOfFile } from "../files/backends/index.ts";
import { createBackend, type Failure, type FileBackend, type FileResult } from "../files/index.ts";
import { nameOf, pathIn } from "../files/paths/index.ts";
import type { BackendProtocol, FileData, FileInfo, ReadRawResult } from "./protocol.ts";

/** The first version of the protocol, which some published backends still use. */
interface FirstProtocol extends Pick<BackendProtocol, "write" | "delete" | "execute"> {
  lsInfo(path: string): FileInfo[] | Promise<FileInfo[]>;
  readRaw(path: string): FileData | Promise<FileData>;
  read(path: string, offset?: number, limit?: number): unknown;
}

/** A third-party backend of DeepAgents' protocol. */
export type ForeignBackend = BackendProtocol | FirstProtocol;

/** More lines than a file has. */
const ALL = 1_000_000_000;

/**
 * Our `FileBackend` on such a backend, with our own searches and edits. The protocol has no compare-and-swap: edits run
 * one by one in this process.
 */
export function foreignFiles(backend: ForeignBackend): FileBackend {
  const read = (path: string): Promise<FileResult<{ content: string }>> =>
    asResult(path, async () => {
      const raw = (await (backend.readRaw?.(path) ?? backend.read(path, 0, ALL))) as ReadRawResult;
      const { error, data = raw } = raw;
      const content = textOfFile(data);
      return content === undefined ? refusal(path, error ?? "it is no text") : { ok: true, content };
    });
  const put = (path: string, content: string): Promise<FileResult> =>
    asResult(path, async () => {
      const { error } = await backend.write(path, content);
      return error ? refusal(path, error) : { ok: true };
    });
  const files = createBackend({
    list: (path) =>
      asResult(path, async () => {
        const listing = "ls" in backend ? await backend.ls(path) : { files: await backend.lsInfo(path) };
        if (!listing.files) return refusal(path, listing.error ?? "it cannot be listed");
        const entries = listing.files.map(({ path: full, is_dir: isDirectory = false, size }) => {
          const name = nameOf(full.replace(/\/+$/, ""));
          return { name, path: pathIn(path, name), isDirectory, ...(size !== undefined && { size }) };
        });
        return { ok: true, entries };
      }),
    read,
    write: async (path, content) => {
      const created = !(await read(path)).ok;
      const result = await put(path, content);
      return result.ok ? { ok: true, created } : result;
    },
    swap: (path, before, content) =>
      exclusive(backend, path, async () => {
        const now = await read(path);
        if (!now.ok) return now;
        if (now.content !== before) return { ok: true, swapped: false };
        const result = await put(path, content);
        return result.ok ? { ok: true, swapped: true } : result;
      }),
    delete: (path) =>
      asResult(path, async () => {
        if (!backend.delete) return fail(`"${path}" was not deleted: this backend cannot delete.`);
        const { error } = await backend.delete(path);
        return error ? refusal(path, error) : { ok: true };
      }),
  });
  if (!backend.execute) return files;
  return {
    ...files,
    execute: async (command) => ({ ok: true, timedOut: false, ...(await backend.execute!(command)) }),
  };
}

/** Runs an operation. Turns errors, which the first version of the protocol throws, into failures. */
async function asResult<T extends object>(
  path: string,
  act: () => Promise<FileResult<T>>,
): Promise<FileResult<T>> {
  try {
    return await act();
  } catch (error) {
    return refusal(path, (error as Error).message);
  }
}

function refusal(path: string, error: string): Failure {
  const isMissing = /not found|no such|does not exist/i.test(error);
  return fail(`"${path}": ${error.replaceAll('"', "'")}`, isMissing ? "missing" : undefined);
}
