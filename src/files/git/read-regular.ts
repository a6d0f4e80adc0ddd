import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

/** The size to which Holdfast reads files of git, except an index. Git reads no larger `.git` file either. */
export const MAX_GIT_FILE = 2 ** 20;

/**
 * The bytes of a regular file; undefined if there is none at the path. Throws if it has more bytes, or if it cannot be
 * read. A pipe does not block.
 */
export function readRegular(path: string | Buffer, most = Infinity): Buffer | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) return undefined;
    if (stats.size > most) throw new Error(`The file has more than ${most} bytes.`);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string | Buffer): number | undefined {
  try {
    // Windows has no such flag, and no pipes in folders.
    return openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an error says that there is no file, for git either. Any other error may hide one. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENXIO"].includes((error as NodeJS.ErrnoException).code ?? "");
}
