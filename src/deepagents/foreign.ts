import { fail } from "../files/backend/index.ts";
import { exclusive, textOfFile } from "../files/backends/index.ts";
import {
  createBackend,
  type Failure,
  type FileBackend,
  type FileResult,
  type GrepQuery,
} from "../files/index.ts";
import { inOrder, nameOf, pathIn } from "../files/paths/index.ts";
import { replaceText } from "../files/text/index.ts";
import { adaptBackendProtocol, type AnyBackendProtocol } from "./adapt.ts";
import { withoutSlashes, type FileInfo, type ReadRawResult } from "./protocol.ts";

/** A third-party backend of DeepAgents' protocol. */
export type ForeignBackend = AnyBackendProtocol;

/** More lines than a file has. */
const ALL = 1_000_000_000;

/**
 * Our `FileBackend` on such a backend. The backend's own `glob`, `grep` and `edit` do what they can: `grep` names the
 * files with a text, `edit` replaces text that is there exactly. The protocol has no compare-and-swap: edits run one by
 * one in this process.
 */
export function foreignFiles(theirs: ForeignBackend): FileBackend {
  const backend = adaptBackendProtocol(theirs);
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
        const listing = await backend.ls(path);
        if (!listing.files) return refusal(path, listing.error ?? "it cannot be listed");
        const entries = listing.files.map(({ path: full, is_dir: isDirectory = false, size }) => {
          const name = nameOf(withoutSlashes(full));
          return { name, path: pathIn(path, name), isDirectory, size };
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
    candidates: (folder, query) => filesWith(query, folder),
  });
  /** The files with the text of a search; undefined if the backend cannot tell all of them. */
  const filesWith = async (
    { pattern, regex, ignoreCase }: GrepQuery,
    folder: string,
  ): Promise<string[] | undefined> => {
    if (regex || ignoreCase) return undefined;
    const found = await asResult(folder, async () => {
      const { matches, error, truncated } = await backend.grep(pattern, folder);
      return matches && !truncated ? { ok: true, matches } : refusal(folder, error ?? "it has too many");
    });
    if (!found.ok) return undefined;
    return [...new Set(found.matches.map((match) => wholePath(match, folder)))].toSorted(inOrder);
  };
  const own: Pick<FileBackend, "glob" | "edit"> = {
    glob: async (pattern, scope = {}) => {
      const { path = "/", include = () => true } = scope;
      const found = await asResult(path, async () => {
        const { files: matches, error } = await backend.glob(pattern, path);
        return matches ? { ok: true, matches } : refusal(path, error ?? "it cannot be searched");
      });
      if (!found.ok) return files.glob(pattern, scope);
      const paths = found.matches
        .filter(({ is_dir: isFolder = false }) => !isFolder)
        .map((file) => wholePath(file, path));
      return { ok: true, paths: paths.filter(include).toSorted(inOrder) };
    },
    edit: (path, edit) =>
      exclusive(files, path, async () => {
        const { oldString, newString, replaceAll = false } = edit;
        const now = await read(path);
        const replaced = now.ok && now.content.includes(oldString) && replaceText(now.content, edit);
        // The backend's own edit finds exact text only.
        if (!replaced || !replaced.ok) return files.edit(path, edit);
        return asResult(path, async () => {
          const { error } = await backend.edit(path, oldString, newString, replaceAll);
          return error ? refusal(path, error) : { ok: true, lines: replaced.lines };
        });
      }),
  };
  const all = { ...files, ...own };
  if (!backend.execute) return all;
  return {
    ...all,
    execute: async (command) => ({ ok: true, timedOut: false, ...(await backend.execute!(command)) }),
  };
}

/** The path from the root: some backends name files by their paths from where they searched. */
function wholePath({ path }: Pick<FileInfo, "path">, from: string): string {
  return path.startsWith("/") ? path : pathIn(from, path);
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
