import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { segmentsOf } from "../paths/index.ts";
import { retryOpen } from "./retries.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Thrown for a link, or a name spelled differently on disk, in place of a plain folder or file. */
export class NotPlainError extends Error {}

/** An open folder on disk. Keeps reaching its own entries if its path is replaced by a link. */
export interface FolderHandle {
  /** The system path of an entry. The entry itself may be a link: never follow it. */
  entry(name: string): string;
  /** Opens a folder in this one. Fails for a link. */
  enter(name: string, options: { create: boolean }): Promise<FolderHandle>;
  /** Opens a file in this folder. Fails for a link. */
  open(name: string, flags: number): Promise<FileHandle>;
  /** The stats of an entry; undefined if it is missing. Throws for a link. */
  stat(name: string): Promise<Stats | undefined>;
  close(): Promise<void>;
}

/** Opens the folder at a path. Throws if the opened folder has another real path. */
export type OpenFolder = (path: string) => Promise<FolderHandle>;

/** Opens a folder below a root: directly, or else name by name from the root, so that no part can be a link. */
export async function enter(
  openAt: OpenFolder,
  { root, path, create = false }: { root: string; path: string; create?: boolean },
): Promise<FolderHandle> {
  const direct = await openAt(join(root, path.slice(1))).catch(() => undefined);
  if (direct) return direct;
  let folder = await openAt(root);
  for (const name of segmentsOf(path)) {
    const outer = folder;
    try {
      folder = await outer.enter(name, { create });
    } finally {
      await outer.close();
    }
  }
  return folder;
}

/** Whether the system has paths for open folders (`/proc/self/fd`). */
export async function hasDescriptorPaths(root: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const handle = await openFolder(root);
  try {
    return await isAt(handle, root);
  } finally {
    await handle.close();
  }
}

/** Opens a folder whose entries are reached through /proc/self/fd, on Linux. */
export async function openByDescriptor(path: string): Promise<FolderHandle> {
  const handle = await openFolder(path);
  if (await isAt(handle, path)) return folderHandle(handle);
  await handle.close();
  throw new NotPlainError();
}

/** Whether the real path of an open folder is `path`. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  return path === (await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined));
}

function folderHandle(handle: FileHandle): FolderHandle {
  const entry = (name: string): string => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    entry,
    async enter(name, { create }) {
      if (create) await makeFolder(entry(name));
      return folderHandle(await openFolder(entry(name)));
    },
    open: (name, flags) => retryOpen(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK)),
    stat: (name) => statOf(entry(name)),
    close: () => handle.close(),
  };
}

async function openFolder(path: string): Promise<FileHandle> {
  return retryOpen(() => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

/** The stats of a path; undefined if it is missing. Throws for a link. */
export async function statOf(path: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) throw new NotPlainError();
    return stats;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Creates a folder unless the path exists. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
