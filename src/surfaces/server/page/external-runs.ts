import type { ThreadStore } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";

const POLL_MS = 1000;

/**
 * Polls the store for threads that other processes run, such as a `holdfast run` in a terminal: their events do not reach
 * this process, but their checkpoints do. Polls only while there are readers.
 */
export class ExternalRuns {
  readonly #host: Host;
  readonly #saver: ThreadStore;
  /** The running threads of other processes, with their progress at the last poll. */
  #progress = new Map<string, string>();
  #readers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: Host, saver: ThreadStore) {
    this.#host = host;
    this.#saver = saver;
  }

  /** Polls for as long as `work` takes. */
  async watchDuring(work: () => Promise<void>): Promise<void> {
    this.#readers += 1;
    this.#timer ??= setInterval(() => void this.#poll(), POLL_MS);
    try {
      await work();
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  async #poll(): Promise<void> {
    try {
      const now = new Map<string, string>();
      for (const [thread, mark] of await this.#saver.threadsAtWork()) {
        if (!(await this.#host.isBusy(thread))) now.set(thread, mark);
      }
      const threads = new Set([...this.#progress.keys(), ...now.keys()]);
      const moved = [...threads].filter((thread) => this.#progress.get(thread) !== now.get(thread));
      this.#progress = now;
      // A thread that this host runs by now sends events of its own.
      for (const thread of moved) if (!(await this.#host.isBusy(thread))) await this.#host.noteMove(thread);
    } catch {
      // The store cannot be read: the next poll tries again, and requests report the error.
    }
  }
}
