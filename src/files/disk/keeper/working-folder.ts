import { constants, type Stats } from "node:fs";
import { lstat, open, realpath, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, NotPlainError, statOf, type FolderHandle } from "../folder-handle.ts";
import { retryOpen } from "../retries.ts";

// Windows lacks some of these: undefined adds nothing to a set of flags.
const { O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants;

const MAX_ATTEMPTS = 10;

/**
 * Opens a folder by making it the working folder of this process, which must do one thing at a time: relative names are
 * resolved in the working folder itself, even if its path leads elsewhere by now. (Windows resolves its path, but does
 * not let anyone move the folder.) Only the last opened folder stays open.
 */
export async function openAsWorkingFolder(path: string): Promise<FolderHandle> {
  return stepTo(path, path);
}

/** Changes to a folder. Checks the real path afterwards, as a link can lead elsewhere. */
async function stepTo(target: string, path: string): Promise<FolderHandle> {
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
      const openEntry = (): Promise<FileHandle> =>
        retryOpen(() => open(entry(name), flags | O_NOFOLLOW | O_NONBLOCK));
      if (flags & O_EXCL) return openEntry();
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        await stat(name);
        const handle = await openEntry();
        if (await isEntry(handle, entry(name))) return handle;
        // The file was replaced in between: open the new one, if it is plain.
        await handle.close();
      }
      throw new NotPlainError();
    },
    close: async () => {},
  };
}

/** Whether Windows treats a name as a device, as a stream of another file, or drops its last characters. */
export function isDeviceName(name: string): boolean {
  return /^(?:con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(?:\.|$)|:|[. ]$/i.test(name);
}

/** Whether an open file is the entry of that name. Windows ignores O_NOFOLLOW and follows links. */
async function isEntry(handle: FileHandle, entry: string): Promise<boolean> {
  const opened = await handle.stat({ bigint: true });
  const current = await lstat(entry, { bigint: true }).catch(() => undefined);
  return opened.ino === current?.ino && opened.dev === current.dev;
}

/** Throws if the real path differs: because of a link, or because the disk has another spelling of a name. */
async function mustBeAt(entry: string, path: string): Promise<void> {
  if ((await realpath(entry)) !== path) throw new NotPlainError();
}
