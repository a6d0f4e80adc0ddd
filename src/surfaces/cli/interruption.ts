import { EXIT } from "./exit-codes.ts";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Watches for Ctrl-C and its like, and for a reader that has gone. The first one aborts the signal, so that the run
 * stops where nothing is lost; the second ends the process at once, after `onQuit`.
 */
export class Interruption {
  readonly #controller = new AbortController();
  readonly #stdout: NodeJS.WriteStream;
  readonly #onQuit: () => void;
  readonly #onSignal = (): void => this.interrupt();
  /** Nobody reads the output any more, as after `| head`. */
  isReaderGone = false;
  readonly #onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EPIPE") throw error;
    this.isReaderGone = true;
    this.#controller.abort();
  };

  constructor(stdout: NodeJS.WriteStream, onQuit: () => void) {
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
