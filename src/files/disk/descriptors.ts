import { setTimeout } from "node:timers/promises";

const MAX_ATTEMPTS = 20;
const WAIT_MS = 10;

/** Opens something. Where the process or the system has no descriptor left, it is tried again for two seconds. */
export async function whenFree<T>(open: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if ((code !== "EMFILE" && code !== "ENFILE") || attempt === MAX_ATTEMPTS) throw error;
      await setTimeout(attempt * WAIT_MS);
    }
  }
}
