import { constants, type Stats } from "node:fs";
import { lstat, mkdir, open, readlink, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { whenFree } from "./descriptors.ts";

// Windows lacks some of these: undefined adds nothing to a set of flags.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

const MAX_ATTEMPTS = 10;

/** A link, or another trick of the file system, stands where a folder or file should be. */
export class NotPlainError extends Error {}

/**
 * A folder on disk that is held while it is used. On Linux it is held by an open descriptor, and everything in
 * it is reached through /proc/self/fd, so a folder that is swapped for a link meanwhile changes nothing.
 * Elsewhere a folder is known by its path, and that the path has no link in it is checked before and after.
 */
export interface Anchor {
  /** Where the system finds an entry of this folder. The entry itself may be a link: never follow it. */
  entry(name: string): string;
  /** Opens a folder in this one, which may not be a link. */
  enter(name: string, options?: { create: boolean }): Promise<Anchor>;
  /** Opens a file in this folder, which may not be a link. */
  open(name: string, flags: number): Promise<FileHandle>;
  /** What is in this folder by that name, if anything, which may not be a link. */
  stat(name: string): Promise<Stats | undefined>;
  /** Throws unless the folder still is where it was found. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** Opens the root of a backend, by its real path. */
export async function anchorAt(root: string, { descriptors }: { descriptors: boolean }): Promise<Anchor> {
  return descriptors ? await heldAnchor(root) : await checkedAnchor(root);
}

/** Whether this system lets a process reach its open folders by descriptor. */
export async function hasDescriptorPaths(root: string): Promise<boolean> {
  if (process.platform !== "linux") return false;
  const handle = await whenFree(() => open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  try {
    return (await readlink(`/proc/self/fd/${handle.fd}`)) === root;
  } catch {
    return false;
  } finally {
    await handle.close();
  }
}

/**
 * Opens a folder anywhere below a root in one step, where descriptors are to be had. What was opened says itself
 * where it is; undefined if that is not where it was looked for.
 */
export async function anchorDirectly(path: string): Promise<Anchor | undefined> {
  const handle = await whenFree(() => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)).catch(() => undefined);
  if (!handle) return undefined;
  const found = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined);
  if (found === path) return heldBy(handle);
  await handle.close();
  return undefined;
}

async function heldAnchor(path: string): Promise<Anchor> {
  return heldBy(await whenFree(() => open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)));
}

function heldBy(handle: FileHandle): Anchor {
  const entry = (name: string): string => `/proc/self/fd/${handle.fd}/${name}`;
  return {
    entry,
    async enter(name, options) {
      if (options?.create) await makeFolder(entry(name));
      return await heldAnchor(entry(name));
    },
    open: (name, flags) => whenFree(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK)),
    stat: (name) => statOf(entry(name)),
    verify: async () => {},
    close: () => handle.close(),
  };
}

async function checkedAnchor(path: string): Promise<Anchor> {
  const verify = async (): Promise<void> => {
    if (!(await lstat(path)).isDirectory())
      throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
    await mustBePlain(path);
  };
  await verify();
  const entry = (name: string): string => join(path, name);
  return {
    entry,
    async enter(name, options) {
      if (options?.create) await makeFolder(entry(name));
      return await checkedAnchor(entry(name));
    },
    async open(name, flags) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const handle = await whenFree(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK));
        const same = await isAt(handle, entry(name)).catch(() => false);
        if (same) return handle;
        // Somebody put another file there in between: that is the one to open, if it is plain.
        await handle.close();
        await mustBePlain(entry(name));
      }
      throw new NotPlainError();
    },
    async stat(name) {
      const stats = await statOf(entry(name));
      if (stats) await mustBePlain(entry(name));
      return stats;
    },
    verify,
    close: async () => {},
  };
}

/** Whether an open file is the one at a path without links. */
async function isAt(handle: FileHandle, path: string): Promise<boolean> {
  await mustBePlain(path);
  const [opened, there] = await Promise.all([handle.stat({ bigint: true }), lstat(path, { bigint: true })]);
  return opened.ino === there.ino && opened.dev === there.dev;
}

/** The real path differs where a link is in it, and also where the disk takes another spelling for the same name. */
async function mustBePlain(path: string): Promise<void> {
  if ((await realpath(path)) !== path) throw new NotPlainError();
}

async function statOf(path: string): Promise<Stats | undefined> {
  try {
    const stats = await lstat(path);
    if (stats.isSymbolicLink()) throw new NotPlainError();
    return stats;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
