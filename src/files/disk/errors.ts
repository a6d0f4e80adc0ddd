import { type Failure, fail, noSuchFile } from "../backend/index.ts";
import { NotPlainError } from "./folder-handle.ts";

/** Turns an error of the file system into a failure. Names no path of the host. Rethrows any other error. */
export function explain(error: unknown, path: string): Failure {
  if (error instanceof NotPlainError) return linked(path);
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
      return noSuchFile(path);
    case "ELOOP":
    case "EMLINK":
      return linked(path);
    case "ENOTDIR":
      return fail(`"${path}" cannot be used: a part of it is a file or a link, not a folder.`, "denied");
    case "EISDIR":
      return fail(`"${path}" is a folder, not a file.`);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return fail(`"${path}" cannot be used: the system does not allow it (${code}).`, "denied");
    case "ENAMETOOLONG":
      return fail(`"${path}" cannot be used: the name is too long.`);
    case "ENOSPC":
    case "EDQUOT":
      return fail(`"${path}" was not written: the disk is full.`);
    default:
      if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) {
        return fail(`"${path}" cannot be used (${code}).`);
      }
      throw error;
  }
}

function linked(path: string): Failure {
  return fail(
    `"${path}" cannot be used: there is a symbolic link in it, or it is spelled differently on disk.`,
    "denied",
  );
}
