import { setImmediate } from "node:timers/promises";

const MAX_MS = 20_000;
const SLICE_MS = 20;

interface SearchPassOptions {
  signal?: AbortSignal;
  /** A clock in milliseconds, for tests. */
  now?: () => number;
}

/** One pass through many files: has a time limit, yields to the event loop, and collects what could not be read. */
export class SearchPass {
  /** The reason for an early end. */
  stopped: string | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #now: () => number;
  readonly #started: number;
  #rested: number;
  readonly #missed: string[] = [];

  constructor({ signal, now = () => performance.now() }: SearchPassOptions = {}) {
    this.#signal = signal;
    this.#now = now;
    this.#started = now();
    this.#rested = this.#started;
  }

  /** True when the caller has to call `rest`. */
  get isDue(): boolean {
    return this.#now() - this.#rested > SLICE_MS;
  }

  /** The remaining milliseconds. */
  get left(): number {
    return Math.max(0, MAX_MS - (this.#now() - this.#started));
  }

  /** Yields to the event loop. Throws the reason of an abort. */
  async rest(): Promise<void> {
    await setImmediate();
    this.#signal?.throwIfAborted();
    this.#rested = this.#now();
    if (this.left === 0) this.stopped ??= TIME_IS_UP;
  }

  /** Records a file or folder that could not be read. */
  miss(path: string): void {
    this.#missed.push(path);
  }

  /** Notes for the caller, in sentences. */
  get notes(): string[] {
    const missed = named("Could not be read", this.#missed);
    return [...missed, ...(this.stopped === undefined ? [] : [this.stopped])];
  }
}

const TIME_IS_UP = `Stopped after ${MAX_MS / 1000} seconds. Narrow the pattern, the path or the glob.`;

/** A sentence with the first few paths; none for an empty list. */
export function named(what: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const first = paths.slice(0, 3).map((path) => `"${path}"`);
  return [`${what}: ${first.join(", ")}${paths.length > 3 ? ` and ${paths.length - 3} more` : ""}.`];
}
