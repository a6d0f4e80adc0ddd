import { constants, type Stats } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, NotPlainError, statOf, type Anchor } from "../anchor.ts";
import { retryOpen } from "../retries.ts";

// Windows lacks some of these: undefined adds nothing to a set of flags.
const { O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

const MAX_ATTEMPTS = 10;

/**
 * Holds a folder by making it the working folder of this process, which must do one thing at a time: a system that
 * cannot reach open folders by descriptor still reaches names without a slash in the working folder itself, wherever
 * its path leads by now. (Windows goes by its path, but lets nobody move it.) One is held at a time, the last.
 */
export async function holdAsWorkingFolder(path: string): Promise<Anchor> {
  return stepTo(path, path);
}

/** Goes to a folder. A link may lead it astray, so where it has come is asked for before anything is done there. */
async function stepTo(target: string, path: string): Promise<Anchor> {
  if (!(await lstat(target)).isDirectory()) {
    throw Object.assign(new Error("not a folder"), { code: "ENOTDIR" });
  }
  process.chdir(target);
  await mustBeAt(".", path);

  const entry = (name: string): string => {
    if (process.platform === "win32" && isDeviceName(name)) throw new NotPlainError();
    return `./${name}`;
  };
  const stat = async (name: string): Promise<Stats | undefined> => {
    const stats = await statOf(entry(name));
    if (stats) await mustBeAt(entry(name), join(path, name));
    return stats;
  };
  return {
    entry,
    stat,
    async enter(name, { create }) {
      if (create) await makeFolder(entry(name));
      return stepTo(entry(name), join(path, name));
    },
    async open(name, flags) {
      const opened = (): Promise<FileHandle> =>
        retryOpen(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK));
      if (flags & O_EXCL) return opened();
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        await stat(name);
        const handle = await opened();
        if (await isEntry(handle, entry(name))) return handle;
        // Somebody put another file there in between: that is the one to open, if it is plain.
        await handle.close();
      }
      throw new NotPlainError();
    },
    close: async () => {},
  };
}

/** A name that Windows takes for a device, for a stream of another file, or for the name without its last characters. */
export function isDeviceName(name: string): boolean {
  return /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)|:|[. ]$/i.test(name);
}

/** Whether an open file is the one by that name: Windows follows a link all the same. */
async function isEntry(handle: FileHandle, entry: string): Promise<boolean> {
  const opened = await handle.stat({ bigint: true });
  const there = await lstat(entry, { bigint: true }).catch(() => undefined);
  return opened.ino === there?.ino && opened.dev === there.dev;
}

/** The real path differs where a link is in it, and also where the disk takes another spelling for the same name. */
async function mustBeAt(entry: string, path: string): Promise<void> {
  if ((await realpath(entry)) !== path) throw new NotPlainError();
}
