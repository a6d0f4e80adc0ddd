import { HarnessError } from "../../errors.ts";
import { checkName } from "./storable-text.ts";

/** The error for a write to a thread that another writer has changed since it was read. */
export function threadChanged(threadId: string): HarnessError {
  return new HarnessError(
    "thread-changed",
    `Thread ${JSON.stringify(threadId)} was changed by another process since it was read here; the late writes were refused. Read it again and continue from there. acquireThread keeps others out.`,
  );
}

/**
 * Runs work on a thread, and adds the thread's name to a `storage-corrupt` error. Throws `invalid-request` for a name
 * that cannot be stored.
 */
export function onThread<T>(threadId: string | undefined, work: () => T): T {
  const rethrow = (error: unknown): never => {
    if (threadId === undefined || !(error instanceof HarnessError) || error.code !== "storage-corrupt") {
      throw error;
    }
    const message = `Thread ${JSON.stringify(threadId)} cannot be used. ${error.message}`;
    throw new HarnessError(error.code, message, { cause: error });
  };
  if (threadId !== undefined) checkName(threadId);
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rethrow) as T) : result;
  } catch (error) {
    return rethrow(error);
  }
}
