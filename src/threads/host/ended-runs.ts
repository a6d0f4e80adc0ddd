import type { Run } from "./hosted-run.ts";

/** The time for which logs of ended runs are kept, and the most runs: a disconnected reader can still read them. */
export const KEPT_MS = 10 * 60_000;
const KEPT_RUNS = 100;

/** The runs of a host that have ended and can still be read. */
export class EndedRuns {
  /** Ended runs with the timers that drop them, oldest first. */
  readonly #runs = new Map<Run, NodeJS.Timeout>();
  readonly #onForget: (run: Run) => void;

  /** `onForget` hears of each that is kept no longer. */
  constructor(onForget: (run: Run) => void) {
    this.#onForget = onForget;
  }

  add(run: Run): void {
    this.#runs.set(run, setTimeout(() => this.forget(run), KEPT_MS).unref());
    const [oldest] = this.#runs.keys();
    if (oldest && this.#runs.size > KEPT_RUNS) this.forget(oldest);
  }

  forget(run: Run): void {
    // A timer holds its run, and all that it said, until its time is up.
    clearTimeout(this.#runs.get(run));
    if (this.#runs.delete(run)) this.#onForget(run);
  }

  hasAny(thread: string): boolean {
    return [...this.#runs.keys()].some((run) => run.thread === thread);
  }
}
