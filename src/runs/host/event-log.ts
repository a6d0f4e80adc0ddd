/** An event with its number, or the place of events that were dropped before they could be read. */
export type Entry<Event> = { n: number; event: Event } | { n: number; gap: true };

export interface ReadOptions {
  signal?: AbortSignal;
  /** Whether to wait for more at the end. Default true. */
  isFollowing?: boolean;
}

export interface EventLogOptions {
  first?: number;
  most?: number;
  onUnread?: () => void;
}

/**
 * A bounded list of numbered events that any number of readers follow, each at its own speed and from where it left
 * off. A reader holds no events: one that is too slow finds a gap.
 */
export class EventLog<Event> {
  readonly #most: number;
  #events: Event[] = [];
  #first: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();
  #readers = 0;
  readonly #onUnread: (() => void) | undefined;

  /** `first` is the number of its first event; `most` is how many are kept; `onUnread` hears of the last reader's end. */
  constructor({ first = 1, most = 10_000, onUnread }: EventLogOptions = {}) {
    this.#first = first;
    this.#most = most;
    this.#onUnread = onUnread;
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#first + this.#events.length - 1;
  }

  /** The number of the oldest event that is kept. */
  get first(): number {
    return this.#first;
  }

  get isRead(): boolean {
    return this.#readers > 0;
  }

  push(event: Event): number {
    this.#events.push(event);
    if (this.#events.length > this.#most) {
      // A quarter at once: to move all the others for each new event would cost more than it saves.
      const dropped = Math.ceil(this.#most / 4);
      this.#events = this.#events.slice(dropped);
      this.#first += dropped;
    }
    this.#wake();
    return this.last;
  }

  /** Ends every reader once it has read what there is. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** What is there after a number, oldest first. */
  since(after: number): Entry<Event>[] {
    const start = Math.max(0, after + 1 - this.#first);
    return this.#events.slice(start).map((event, at) => ({ n: this.#first + start + at, event }));
  }

  async *read(
    after: number,
    { signal, isFollowing = true }: ReadOptions = {},
  ): AsyncGenerator<Entry<Event>, void> {
    this.#readers += 1;
    try {
      let next = after + 1;
      for (;;) {
        if (signal?.aborted) return;
        if (next < this.#first) {
          yield { n: this.#first - 1, gap: true };
          next = Math.max(next, this.#first);
        } else if (next <= this.last) {
          yield { n: next, event: this.#events[next - this.#first]! };
          next += 1;
        } else {
          if (this.#isClosed || !isFollowing) return;
          await this.#more(signal);
        }
      }
    } finally {
      this.#readers -= 1;
      if (this.#readers === 0) this.#onUnread?.();
    }
  }

  #more(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiting.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#waiting.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  #wake(): void {
    for (const done of this.#waiting) done();
  }
}
