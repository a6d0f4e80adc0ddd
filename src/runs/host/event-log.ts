/** An event with its number, or the place of events that were dropped before they could be read. */
export type Entry<Event> = { n: number; event: Event } | { n: number; gap: true };

/** What takes events. */
export interface Sink<Event> {
  push: (event: Event) => unknown;
}

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
 * off. A reader holds no events: one that is too slow finds a gap. Numbers rise; who gives them may leave some out.
 */
export class EventLog<Event> implements Sink<Event> {
  readonly #most: number;
  #entries: { n: number; event: Event }[] = [];
  /** Nothing is kept up to this number. */
  #lost: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();
  #readers = 0;
  readonly #onUnread: (() => void) | undefined;

  /** `first` is the number of its first event; `most` is how many are kept; `onUnread` hears of the last reader's end. */
  constructor({ first = 1, most = 10_000, onUnread }: EventLogOptions = {}) {
    this.#lost = first - 1;
    this.#most = most;
    this.#onUnread = onUnread;
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#entries.at(-1)?.n ?? this.#lost;
  }

  /** The number of the oldest event that is kept. */
  get first(): number {
    return this.#entries[0]?.n ?? this.#lost + 1;
  }

  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** Adds an event, under a number above all others where one is given. */
  push(event: Event, n = this.last + 1): number {
    this.#entries.push({ n, event });
    if (this.#entries.length > this.#most) {
      // A quarter at once: to move all the others for each new event would cost more than it saves.
      const dropped = Math.ceil(this.#most / 4);
      this.#lost = this.#entries[dropped - 1]!.n;
      this.#entries = this.#entries.slice(dropped);
    }
    this.#wake();
    return n;
  }

  /** Ends every reader once it has read what there is. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** What is there after a number, oldest first. */
  since(after: number): Entry<Event>[] {
    return this.#entries.slice(this.#placeAfter(after));
  }

  async *read(
    after: number,
    { signal, isFollowing = true }: ReadOptions = {},
  ): AsyncGenerator<Entry<Event>, void> {
    this.#readers += 1;
    try {
      let at = after;
      for (;;) {
        if (signal?.aborted) return;
        if (at < this.#lost) {
          at = this.#lost;
          yield { n: at, gap: true };
          continue;
        }
        const next = this.#entries[this.#placeAfter(at)];
        if (next) {
          at = next.n;
          yield next;
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

  /** Where the first event stands whose number is above this one. */
  #placeAfter(after: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#entries[middle]!.n > after) high = middle;
      else low = middle + 1;
    }
    return low;
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
