/**
 * An event with its number, or the place of events that were dropped before they could be read; `kept` is the newest of
 * them that tells where things stood.
 */
export type Entry<Event> = { n: number; event: Event } | { n: number; gap: true; kept?: Event };

/** A receiver of events. */
export interface Sink<Event> {
  push: (event: Event) => unknown;
}

export interface ReadOptions {
  signal?: AbortSignal;
  /** Whether to wait for more at the end. Default true. */
  isFollowing?: boolean;
}

export interface EventLogOptions<Event> {
  first?: number;
  most?: number;
  mostUnread?: number;
  onUnread?: () => void;
  isKept?: (event: Event) => boolean;
}

/** A reader who left so long ago does not come back for what it missed. */
const AWAITED_MS = 10 * 60_000;

/** A reader that is slow holds no more than this. */
const MOST_AT_ONCE = 64;

/**
 * A bounded list of numbered events that any number of readers follow, each at its own speed and from where it left
 * off. A reader holds what it is at and no more: one that is too slow finds a gap. Numbers rise; who gives them may leave
 * some out. Readers are told once of all that came in one go, and read it together.
 */
export class EventLog<Event> implements Sink<Event> {
  /** The number of its first event, which may be gone. */
  readonly start: number;
  readonly #most: number;
  readonly #mostUnread: number;
  // Two lists: an object for each event, with its number in a box, takes four times as much.
  #events: Event[] = [];
  #numbers: number[] = [];
  /** The number of the newest dropped event. */
  #lost: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();
  #isWaking = false;
  #readers = 0;
  /** When the last reader left. */
  #leftAt = -Infinity;
  readonly #onUnread: (() => void) | undefined;
  readonly #isKept: ((event: Event) => boolean) | undefined;
  #kept: Event | undefined;

  /**
   * `first` is the number of its first event; `most` is how many are kept, and `mostUnread` how many of them where nobody
   * has read it for a while; `onUnread` hears of the last reader's end; `isKept` says which events tell those who find a
   * gap where things stood.
   */
  constructor({
    first = 1,
    most = 10_000,
    mostUnread = most,
    onUnread,
    isKept,
  }: EventLogOptions<Event> = {}) {
    this.start = first;
    this.#isKept = isKept;
    this.#lost = first - 1;
    this.#most = most;
    this.#mostUnread = mostUnread;
    this.#onUnread = onUnread;
  }

  /** The number of the newest event. */
  get last(): number {
    return this.#numbers.at(-1) ?? this.#lost;
  }

  /** The number of the oldest event that is kept. */
  get first(): number {
    return this.#numbers[0] ?? this.#lost + 1;
  }

  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** Adds an event, under a number above all others where one is given. */
  push(event: Event, n = this.last + 1): number {
    this.#events.push(event);
    this.#numbers.push(n);
    if (this.#events.length > this.#mostUnread) this.#drop(this.#isAwaited ? this.#most : this.#mostUnread);
    this.#wake();
    return n;
  }

  get #isAwaited(): boolean {
    return this.isRead || Date.now() - this.#leftAt < AWAITED_MS;
  }

  /** Drops the oldest where there are too many: a quarter at once, as moving all others for each new one would cost more. */
  #drop(most: number): void {
    if (this.#events.length <= most) return;
    const dropped = this.#events.length - Math.floor((most * 3) / 4);
    this.#lost = this.#numbers[dropped - 1]!;
    if (this.#isKept) this.#kept = this.#events.slice(0, dropped).findLast(this.#isKept) ?? this.#kept;
    this.#events = this.#events.slice(dropped);
    this.#numbers = this.#numbers.slice(dropped);
  }

  /** Ends every reader once it has read what there is. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The kept events after a number, oldest first. */
  since(after: number): Entry<Event>[] {
    return this.#entries(this.#placeAfter(after));
  }

  /** Gives what there is, oldest first, then what comes. */
  async *read(
    after: number,
    { signal, isFollowing = true }: ReadOptions = {},
  ): AsyncGenerator<Entry<Event>[], void> {
    this.#readers += 1;
    const onAbort = (): void => this.#wakeAll();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      let at = after;
      for (;;) {
        if (signal?.aborted) return;
        if (at < this.#lost) {
          at = this.#lost;
          yield [{ n: at, gap: true, ...(this.#kept !== undefined && { kept: this.#kept }) }];
          continue;
        }
        const place = this.#placeAfter(at);
        const found = this.#entries(place, place + MOST_AT_ONCE);
        if (found.length > 0) {
          at = found.at(-1)!.n;
          yield found;
        } else {
          if (this.#isClosed || !isFollowing) return;
          await new Promise<void>((resolve) => {
            this.#waiting.add(resolve);
          });
        }
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#readers -= 1;
      this.#leftAt = Date.now();
      if (this.#readers === 0) this.#onUnread?.();
    }
  }

  #entries(from: number, to?: number): Entry<Event>[] {
    const numbers = this.#numbers.slice(from, to);
    return numbers.map((n, at) => ({ n, event: this.#events[from + at]! }));
  }

  /** Where the first event stands whose number is above this one. */
  #placeAfter(after: number): number {
    let [low, high] = [0, this.#numbers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#numbers[middle]! > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Behind all that is about to happen without waiting: what a step says comes piece by piece. */
  #wake(): void {
    if (this.#isWaking || this.#waiting.size === 0) return;
    this.#isWaking = true;
    process.nextTick(() => this.#wakeAll());
  }

  #wakeAll(): void {
    this.#isWaking = false;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resolve of waiting) resolve();
  }
}
