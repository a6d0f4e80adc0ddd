import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readlink, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { segmentsOf } from "../paths/index.ts";
import { retryOpen } from "./retries.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Thrown where a path leads to a link, or to a name in another spelling, instead of a plain folder or file. */
export class NotPlainError extends Error {}

/** An open folder on disk. Its entries stay reachable, and no others, when somebody swaps the folder for a link. */
export interface Anchor {
  /** Where the system finds an entry of this folder. The entry itself may be a link: never follow it. */
  entry(name: string): string;
  /** Opens a folder in this one, which may not be a link. */
  enter(name: string, options: { create: boolean }): Promise<Anchor>;
  /** Opens a file in this folder, which may not be a link. */
  open(name: string, flags: number): Promise<FileHandle>;
  /** The entry of this name in the folder, if there is one and it is no link. */
  stat(name: string): Promise<Stats | undefined>;
  close(): Promise<void>;
}

/** Opens the folder at a path. Throws unless the open folder itself says that this is its path. */
export type Hold = (path: string) => Promise<Anchor>;

/** Opens a folder below a root: in one step, or from the root name by name, so that none can be a link. */
export async function enter(
  hold: Hold,
  { root, path, create = false }: { root: string; path: string; create?: boolean },
): Promise<Anchor> {
  const direct = await hold(join(root, path.slice(1))).catch(() => undefined);
  if (direct) return direct;
  let folder = await hold(root);
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

/** Whether this system lets a process reach its open folders by descriptor. */
export async function hasDescriptorPaths(root: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const handle = await openFolder(root);
  try {
    return await isAt(handle, root);
  } finally {
    await handle.close();
  }
}

/** Opens a folder by a descriptor, on Linux: its entries are reached through /proc/self/fd. */
export async function holdByDescriptor(path: string): Promise<Anchor> {
  const handle = await openFolder(path);
  if (await isAt(handle, path)) return anchorOf(handle);
  await handle.close();
  throw new NotPlainError();
}

/** Whether an open folder says itself that it is at a path. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  return path === (await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined));
}

function anchorOf(handle: FileHandle): Anchor {
  const entry = (name: string): string => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    entry,
    async enter(name, { create }) {
      if (create) await makeFolder(entry(name));
      return anchorOf(await openFolder(entry(name)));
    },
    open: (name, flags) => retryOpen(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK)),
    stat: (name) => statOf(entry(name)),
    close: () => handle.close(),
  };
}

async function openFolder(path: string): Promise<FileHandle> {
  return retryOpen(() => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
}

/** The entry at a path, if there is one and it is no link. */
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

/** Makes a folder unless something is there. */
export async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
