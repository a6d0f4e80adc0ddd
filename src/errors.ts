/** Codes of errors, for programs that tell failures apart. */
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

/** The one error class of Holdfast. What a model did wrong is never thrown: it goes back to the model. */
export class HarnessError extends Error {
  override readonly name = "HarnessError";
  readonly code: HarnessErrorCode;

  constructor(code: HarnessErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Finds the `HarnessError` inside an error that LangChain or LangGraph wrapped; undefined when there is none. */
  static from(error: unknown): HarnessError | undefined {
    const seen = new Set<unknown>();
    for (let at = error; at instanceof Error && !seen.has(at); at = at.cause) {
      if (at instanceof HarnessError) return at;
      seen.add(at);
    }
    return undefined;
  }
}

/** The result of a function, or undefined where it throws. For failures that are an ordinary answer, such as a missing file. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
