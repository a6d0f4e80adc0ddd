/**
 * An event with its number, or a gap: events that were dropped before they were read. `kept` is the newest dropped event
 * for which `isKept` is true.
 */
export type Entry<Event> = { n: number; event: Event } | { n: number; gap: true; kept?: Event };

export interface Sink<Event> {
  push: (event: Event) => unknown;
}

interface EventLogOptions<Event> {
  /** The number of its first event. Default 1. */
  first?: number;
  /** The most events to keep. Default 10,000. */
  most?: number;
  /** The most to keep when no one has read the log for a while. Default `most`. */
  mostUnread?: number;
  /** Called when the last reader leaves. */
  onUnread?: () => void;
  /** Whether an event with a whole state is to be given to readers that find a gap. Default: none is. */
  isKept?: (event: Event) => boolean;
}

/** How long after the last reader left the log is kept at full length, for a reader that comes back. */
const AWAITED_MS = 10 * 60_000;

/** The most events that a reader gets at once. */
const MOST_AT_ONCE = 64;

/**
 * A bounded list of numbered events with any number of readers, each at its own speed and position. A reader that is too
 * slow finds a gap. Numbers rise, and may have holes. Events that are pushed in one tick are read together.
 */
export class EventLog<Event> implements Sink<Event> {
  /** The number of its first event, which may be dropped already. */
  readonly start: number;
  readonly #most: number;
  readonly #mostUnread: number;
  // Two lists: one object per event would take four times the memory.
  #events: Event[] = [];
  #numbers: number[] = [];
  /** The number of the newest dropped event. */
  #lost: number;
  #isClosed = false;
  readonly #waiting = new Set<() => void>();
  #isWaking = false;
  #readers = 0;
  #leftAt = -Infinity;
  readonly #onUnread: (() => void) | undefined;
  readonly #isKept: ((event: Event) => boolean) | undefined;
  #kept: Event | undefined;

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

  /** The number of the oldest kept event. */
  get first(): number {
    return this.#numbers[0] ?? this.#lost + 1;
  }

  get isRead(): boolean {
    return this.#readers > 0;
  }

  /** Adds an event. A given number must be above all others. */
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

  /** Drops the oldest events if there are too many: a quarter at once, which is cheaper than one by one. */
  #drop(most: number): void {
    if (this.#events.length <= most) return;
    const dropped = this.#events.length - Math.floor((most * 3) / 4);
    this.#lost = this.#numbers[dropped - 1]!;
    if (this.#isKept) this.#kept = this.#events.slice(0, dropped).findLast(this.#isKept) ?? this.#kept;
    this.#events = this.#events.slice(dropped);
    this.#numbers = this.#numbers.slice(dropped);
  }

  /** Ends every reader at the end of the log. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  /** The kept events after a number, oldest first. */
  since(after: number): Entry<Event>[] {
    return this.#entries(this.#placeAfter(after));
  }

  /** Yields the events after a number, oldest first, then new ones. */
  async *read(
    after: number,
    { signal }: { signal?: AbortSignal } = {},
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
        const entries = this.#entries(place, place + MOST_AT_ONCE);
        if (entries.length > 0) {
          at = entries.at(-1)!.n;
          yield entries;
        } else {
          if (this.#isClosed) return;
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

  /** The index of the first event with a higher number. */
  #placeAfter(after: number): number {
    let [low, high] = [0, this.#numbers.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#numbers[middle]! > after) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Wakes readers after the current tick: the events of a step come one by one. */
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
