import { HarnessError } from "../../errors.ts";

/** Somebody else has written to a thread since it was read. */
export function changed(threadId: string): HarnessError {
  return new HarnessError(
    "thread-changed",
    `Thread ${JSON.stringify(threadId)} was changed by somebody else since it was read here; what came too late was not written. Read it again and go on from there. acquireThread keeps others out.`,
  );
}

/** Says of which thread something is damaged. */
export function naming<T>(threadId: string | undefined, work: () => T): T {
  const rethrow = (error: unknown): never => {
    if (threadId === undefined || !(error instanceof HarnessError) || error.code !== "storage-corrupt") {
      throw error;
    }
    const message = `Thread ${JSON.stringify(threadId)} cannot be used. ${error.message}`;
    throw new HarnessError(error.code, message, { cause: error });
  };
  try {
    const result = work();
    return result instanceof Promise ? (result.catch(rethrow) as T) : result;
  } catch (error) {
    return rethrow(error);
  }
}
