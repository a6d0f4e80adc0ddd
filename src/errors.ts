/** Error codes, for programs. */
export type HarnessErrorCode =
  | "invalid-options"
  | "invalid-plan"
  | "plan-conflict"
  | "turn-unfinished"
  | "run-ended"
  | "edit-withdrawn"
  | "invalid-request"
  | "not-found"
  | "no-model"
  | "invalid-model"
  | "missing-setting"
  | "missing-package"
  | "bad-response"
  | "no-answer"
  | "script-exhausted"
  | "storage-corrupt"
  | "storage-version"
  | "storage-failed"
  | "thread-busy"
  | "thread-changed";

/**
 * The only error class of Holdfast. Mistakes of a model are not thrown, but returned to the model.
 *
 * @example
 * ```ts
 * import { createDeepAgent, HarnessError } from "holdfast";
 *
 * const agent = createDeepAgent({ model: "openai:gpt-5.1" });
 * await agent.invoke({ messages: "Look around" }).catch((error: unknown) => {
 *   console.error(HarnessError.from(error)?.code ?? "another error");
 * });
 * ```
 */
export class HarnessError extends Error {
  override readonly name = "HarnessError";
  readonly code: HarnessErrorCode;

  constructor(code: HarnessErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Finds the `HarnessError` inside an error that LangChain or LangGraph wrapped; undefined if there is none. */
  static from(error: unknown): HarnessError | undefined {
    const visited = new Set<unknown>();
    for (let at = error; at instanceof Error && !visited.has(at); at = at.cause) {
      if (at instanceof HarnessError) return at;
      visited.add(at);
    }
    return undefined;
  }
}

/** Awaits some work. Throws the signal's reason if it aborts first; the result of the work is then ignored. */
export async function unlessAborted<T>(work: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  if (signal.aborted) {
    // The work has started: without a handler its failure would be an unhandled rejection.
    void Promise.resolve(work).catch(() => {});
    throw signal.reason;
  }
  let stop = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener("abort", stop));
}

/** The result of a function; undefined if it throws. For expected failures, such as a missing file. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
