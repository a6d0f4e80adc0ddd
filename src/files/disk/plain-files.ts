import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { lstat, opendir, readdir, rmdir, unlink, rename } from "node:fs/promises";
import {
  type FileEntry,
  type FileResult,
  type ListOptions,
  fail,
  notAFolder,
  notAFile,
  noSuchFile,
  noSuchFolder,
} from "../backend/index.ts";
import { exclusive } from "../backends/index.ts";
import { nameOf, parentOf, parsePath, pathIn } from "../paths/index.ts";
import { SearchPass } from "../search/index.ts";
import { decodeText } from "../text/index.ts";
import { explain } from "./errors.ts";
import { enter, NotPlainError, type FolderHandle, type OpenFolder } from "./folder-handle.ts";
import { retryOpen, retryRename } from "./retries.ts";

/** One queue of writes per file for all backends of this process. */
const WRITERS = {};

interface Written {
  created: boolean;
  swapped: boolean;
}

/** Operations on files on disk. Arguments and results are plain data, to be sent to another process. */
export interface PlainFiles {
  /** The entries of a folder without links, in any order. */
  list(path: string, options?: ListOptions): Promise<FileResult<{ entries: FileEntry[] }>>;
  /** The same for a walk: a folder that was deleted meanwhile, or became a link, has no entries. */
  entries(path: string): Promise<FileResult<{ entries: FileEntry[] }>>;
  readBytes(path: string, maxBytes: number): Promise<FileResult<{ bytes: Uint8Array }>>;
  /** Writes a file. With `before`, only if the file has that content. */
  put(path: string, content: string | Uint8Array, before?: string): Promise<FileResult<Written>>;
  delete(path: string): Promise<FileResult>;
  /** Deletes a folder with its contents. Does not follow links. */
  deleteFolder(path: string): Promise<FileResult>;
}

/** Does the operations in this process. `root` is a real path. */
export class DiskFiles implements PlainFiles {
  readonly #root: string;
  readonly #openAt: OpenFolder;

  constructor(root: string, openAt: OpenFolder) {
    this.#root = root;
    this.#openAt = openAt;
  }

  async list(
    path: string,
    { sizes = false }: ListOptions = {},
  ): Promise<FileResult<{ entries: FileEntry[] }>> {
    const result = await this.#inFolder(path, { path }, async (folder) => {
      const entries = await entriesOf(folder, path);
      return { ok: true, entries: sizes ? await withSizes(folder, entries) : entries };
    });
    if (result.ok) return result;
    if (result.reason === "missing") return noSuchFolder(path);
    return (await this.#isFile(path)) ? notAFolder(path) : result;
  }

  async entries(path: string): Promise<FileResult<{ entries: FileEntry[] }>> {
    try {
      const entries = await this.#withFolder(path, (folder) => entriesOf(folder, path));
      return { ok: true, entries };
    } catch (error) {
      return isGone(error) ? { ok: true, entries: [] } : explain(error, path);
    }
  }

  async readBytes(path: string, maxBytes: number): Promise<FileResult<{ bytes: Uint8Array }>> {
    return this.#beside(path, (folder) => bytesFrom(folder, path, maxBytes));
  }

  async put(path: string, content: string | Uint8Array, before?: string): Promise<FileResult<Written>> {
    const create = before === undefined;
    const put = (folder: FolderHandle): Promise<FileResult<Written>> =>
      exclusive(WRITERS, pathIn(this.#root, path), async () => {
        const old = await folder.stat(nameOf(path));
        if (old?.isDirectory()) return notAFile(path);
        if (old && !old.isFile()) throw new NotPlainError();
        if (!old && !create) return noSuchFile(path);
        const unchanged = async (): Promise<boolean> => {
          if (before === undefined) return true;
          const current = await bytesFrom(folder, path, Buffer.byteLength(before));
          const text = current.ok ? decodeText(current.bytes, path) : current;
          return text.ok && text.content === before;
        };
        const swapped = (await unchanged()) && (await replaceFile(folder, { path, content, old, unchanged }));
        return { ok: true, created: !old, swapped };
      });
    return this.#beside(path, put, create);
  }

  async delete(path: string): Promise<FileResult> {
    return this.#beside(path, async (folder) => {
      const stats = await folder.stat(nameOf(path));
      if (!stats) return noSuchFile(path);
      if (stats.isDirectory()) return notAFile(path);
      await unlink(folder.entry(nameOf(path)));
      return { ok: true };
    });
  }

  async deleteFolder(path: string): Promise<FileResult> {
    try {
      await this.#empty(path);
      await this.#withFolder(parentOf(path), (folder) => rmdir(folder.entry(nameOf(path))));
      return { ok: true };
    } catch (error) {
      return explain(error, path);
    }
  }

  /** Deletes the entries of a folder, with one folder open at a time. */
  async #empty(path: string): Promise<void> {
    const folders = await this.#withFolder(path, async (folder) => {
      const entries = await readdir(folder.entry(""), { withFileTypes: true });
      const others = entries.filter((entry) => !entry.isDirectory());
      for (const { name } of others) await unlink(folder.entry(name));
      return entries.flatMap((entry) => (entry.isDirectory() ? entry.name : []));
    });
    for (const name of folders) await this.#empty(pathIn(path, name));
    await this.#withFolder(path, async (folder) => {
      for (const name of folders) await rmdir(folder.entry(name));
    });
  }

  /** Runs `act` in the folder that contains a path. */
  async #beside<T extends object>(
    path: string,
    act: (folder: FolderHandle) => Promise<FileResult<T>>,
    create = false,
  ): Promise<FileResult<T>> {
    return path === "/" ? notAFile(path) : this.#inFolder(parentOf(path), { path, create }, act);
  }

  /** Runs `act` in a folder. A failure names `path`. */
  async #inFolder<T extends object>(
    folder: string,
    { path, create = false }: { path: string; create?: boolean },
    act: (folder: FolderHandle) => Promise<FileResult<T>>,
  ): Promise<FileResult<T>> {
    try {
      return await this.#withFolder(folder, act, create);
    } catch (error) {
      return explain(error, path);
    }
  }

  async #withFolder<T>(path: string, act: (folder: FolderHandle) => Promise<T>, create = false): Promise<T> {
    const folder = await enter(this.#openAt, { root: this.#root, path, create });
    try {
      return await act(folder);
    } finally {
      await folder.close();
    }
  }

  async #isFile(path: string): Promise<boolean> {
    const result = await this.#beside(path, async (folder) => ({
      ok: true,
      isFile: (await folder.stat(nameOf(path)))?.isFile() ?? false,
    }));
    return result.ok && result.isFile;
  }
}

function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return error instanceof NotPlainError || ["ENOENT", "ENOTDIR", "ELOOP"].includes(code ?? "");
}

async function bytesFrom(
  folder: FolderHandle,
  path: string,
  maxBytes: number,
): Promise<FileResult<{ bytes: Uint8Array }>> {
  const file = await folder.open(nameOf(path), constants.O_RDONLY);
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) return notAFile(path);
    if (!stats.isFile()) return fail(`"${path}" is not a regular file.`, "not-text");
    if (stats.size > maxBytes) {
      return fail(`"${path}" has ${stats.size} bytes; files of up to ${maxBytes} can be read.`, "too-large");
    }
    return { ok: true, bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}

/** The plain files and folders in a folder whose names are valid in paths. */
async function entriesOf(folder: FolderHandle, path: string): Promise<FileEntry[]> {
  const pass = new SearchPass();
  const entries: FileEntry[] = [];
  for await (const dirent of await retryOpen(() => opendir(folder.entry(""), { bufferSize: READ_AT_ONCE }))) {
    if (pass.isDue) await pass.rest();
    const { name } = dirent;
    const isDirectory = dirent.isDirectory();
    if (!isDirectory && (!dirent.isFile() || isTemporary(name))) continue;
    const entry = { name, path: pathIn(path, name), isDirectory };
    const parsed = parsePath(entry.path);
    if (parsed.ok && parsed.path === entry.path) entries.push(entry);
  }
  return entries;
}

async function withSizes(folder: FolderHandle, entries: readonly FileEntry[]): Promise<FileEntry[]> {
  const sized: FileEntry[] = [];
  const sizeOf = async (entry: FileEntry): Promise<FileEntry> => {
    if (entry.isDirectory) return entry;
    try {
      return { ...entry, size: (await lstat(folder.entry(entry.name))).size };
    } catch {
      return entry;
    }
  };
  for (let at = 0; at < entries.length; at += READ_AT_ONCE) {
    sized.push(...(await Promise.all(entries.slice(at, at + READ_AT_ONCE).map(sizeOf))));
  }
  return sized;
}

/** The number of entries that are read at a time. */
const READ_AT_ONCE = 256;

const { O_CREAT, O_EXCL, O_WRONLY } = constants;

interface Replacement {
  path: string;
  content: string | Uint8Array;
  /** The existing file, whose mode is kept. */
  old: Stats | undefined;
  /** Called just before the rename, which is cancelled if it returns false. */
  unchanged: () => Promise<boolean>;
}

/**
 * Writes a temporary file and renames it, so readers never see half a file. A rename replaces a link and does not
 * follow it.
 */
async function replaceFile(
  folder: FolderHandle,
  { path, content, old, unchanged }: Replacement,
): Promise<boolean> {
  const temporary = `.holdfast-${randomUUID()}.tmp`;
  try {
    const file = await folder.open(temporary, O_WRONLY | O_CREAT | O_EXCL);
    try {
      await file.writeFile(content);
      if (old) await file.chmod(old.mode & 0o7777);
      await file.sync();
    } finally {
      await file.close();
    }
    if (!(await unchanged())) return false;
    await retryRename(() => rename(folder.entry(temporary), folder.entry(nameOf(path))));
    return true;
  } finally {
    await unlink(folder.entry(temporary)).catch(() => {});
  }
}

/** True for the name of a temporary file of `replaceFile`. */
function isTemporary(name: string): boolean {
  return /^\.holdfast-[\da-f-]{36}\.tmp$/.test(name);
}
