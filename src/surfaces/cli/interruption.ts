import { EXIT } from "./exit-codes.ts";
import type { Sink } from "./output/index.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Watches for Ctrl-C and other termination signals, and for errors of standard output. The first one aborts `signal`, so
 * that a run can stop without losing work; a second signal calls `onQuit` and ends the process at once.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #stdout: Sink;
  readonly #onQuit: () => void;
  readonly #onSignal = (): void => this.interrupt();
  /** Why output cannot be written any more: the reader has closed the pipe, or the disk is full. */
  outputError: string | undefined;
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    this.outputError ??= outputError(error);
    this.#controller.abort();
  };

  constructor(stdout: Sink, onQuit = (): void => {}) {
    this.#stdout = stdout;
    this.#onQuit = onQuit;
    for (const name of SIGNALS) process.on(name, this.#onSignal);
    stdout.on("error", this.#onError);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  interrupt(): void {
    if (!this.signal.aborted) {
      this.#controller.abort();
      return;
    }
    this.#onQuit();
    process.exit(EXIT.interrupted);
  }

  dispose(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
    this.#stdout.off("error", this.#onError);
  }
}

/** Runs `work` with a signal that Ctrl-C and other termination signals abort. */
export async function interruptible<T>(stdout: Sink, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new Interruption(stdout);
  try {
    return await work(interruption.signal);
  } finally {
    interruption.dispose();
  }
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Explains an error of standard output. */
export function outputError(error: NodeJS.ErrnoException): string {
  return error.code === "EPIPE"
    ? "the reader of the output closed it"
    : `the output cannot be written (${error.message})`;
}
