import { setTimeout } from "node:timers/promises";

const MAX_ATTEMPTS = 20;
const WAIT_MS = 10;

/** Errors on Windows while another process, such as a virus scanner, has the file open. */
const IN_USE = ["EACCES", "EBUSY", "EPERM"];

/** Opens something. Retries for two seconds while no file descriptor is free. */
export function retryOpen<T>(open: () => Promise<T>): Promise<T> {
  return retrying(open, ["EMFILE", "ENFILE"]);
}

/** Renames a file. On Windows, retries for two seconds while another process has the file open. */
export function retryRename<T>(rename: () => Promise<T>): Promise<T> {
  return retrying(rename, process.platform === "win32" ? IN_USE : []);
}

async function retrying<T>(act: () => Promise<T>, codes: readonly string[]): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (!codes.includes(code) || attempt === MAX_ATTEMPTS) throw error;
      await setTimeout(attempt * WAIT_MS);
    }
  }
}
