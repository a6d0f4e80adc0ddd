import type { ThreadStore } from "../../../storage/index.ts";
import type { Host } from "../../../threads/host/index.ts";

const LOOK_MS = 1000;

/**
 * Follows threads that other processes run, such as a `holdfast run` in a terminal: their events are not to be had here,
 * but what they save is. Looks only while somebody reads.
 */
export class Others {
  readonly #host: Host;
  readonly #saver: ThreadStore;
  /** The threads at work elsewhere, with how far they were when they were last looked at. */
  #known = new Map<string, string>();
  #readers = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(host: Host, saver: ThreadStore) {
    this.#host = host;
    this.#saver = saver;
  }

  /** Follows them for as long as `work` takes. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#readers += 1;
    this.#timer ??= setInterval(() => void this.#look(), LOOK_MS);
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

  /** Does not throw where the store cannot be read just now: whoever asks for a thread is told why. */
  async #look(): Promise<void> {
    try {
      await this.#tellMoves();
    } catch {
      // The next look finds it.
    }
  }

  async #tellMoves(): Promise<void> {
    const now = new Map<string, string>();
    for (const [thread, mark] of await this.#saver.threadsAtWork()) {
      if (!(await this.#host.isBusy(thread))) now.set(thread, mark);
    }
    const threads = new Set([...this.#known.keys(), ...now.keys()]);
    const moved = [...threads].filter((thread) => this.#known.get(thread) !== now.get(thread));
    this.#known = now;
    // One that the host has taken up tells of itself.
    for (const thread of moved) if (!(await this.#host.isBusy(thread))) await this.#host.noteMove(thread);
  }
}
