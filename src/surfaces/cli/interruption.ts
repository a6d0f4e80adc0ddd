import { EXIT } from "./exit-codes.ts";
import type { Sink } from "./output/index.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Watches for Ctrl-C and its like, and for output that cannot be written. The first one aborts the signal, so that the run
 * stops where nothing is lost; the second ends the process at once, after `onQuit`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #stdout: Sink;
  readonly #onQuit: () => void;
  readonly #onSignal = (): void => this.interrupt();
  /** Why nothing can be written any more: nobody reads it, as after `| head`, or the disk is full. */
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

/** Does work that Ctrl-C and its like stop by the signal. */
export async function interruptible<T>(stdout: Sink, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const interruption = new Interruption(stdout);
  try {
    return await work(interruption.signal);
  } finally {
    interruption.dispose();
  }
}

/** Resolves when somebody has asked to stop. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Explains an error of standard output. */
export function outputError(error: NodeJS.ErrnoException): string {
  return error.code === "EPIPE"
    ? "nobody reads the output"
    : `the output cannot be written (${error.message})`;
}
