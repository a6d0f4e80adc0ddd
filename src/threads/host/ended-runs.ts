import type { Run } from "./hosted-run.ts";

/** How long ended runs are kept, and how many at most: a reader that was disconnected can still read them. */
export const KEPT_MS = 10 * 60_000;
const KEPT_RUNS = 100;

/** The ended runs of a host that can still be read. */
export class EndedRuns {
  /** Ended runs with the timers that drop them, oldest first. */
  readonly #runs = new Map<Run, NodeJS.Timeout>();
  readonly #onForget: (run: Run) => void;

  /** `onForget` is called with each run that is dropped. */
  constructor(onForget: (run: Run) => void) {
    this.#onForget = onForget;
  }

  add(run: Run): void {
    this.#runs.set(run, setTimeout(() => this.forget(run), KEPT_MS).unref());
    const [oldest] = this.#runs.keys();
    if (oldest && this.#runs.size > KEPT_RUNS) this.forget(oldest);
  }

  forget(run: Run): void {
    // The timer would keep the run and its log in memory.
    clearTimeout(this.#runs.get(run));
    if (this.#runs.delete(run)) this.#onForget(run);
  }

  hasAny(thread: string): boolean {
    return [...this.#runs.keys()].some((run) => run.thread === thread);
  }
}
