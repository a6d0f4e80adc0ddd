import type { ClusterDatabase } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";
import { SharedReader } from "./shared-json.ts";
import type { WireEvent, WireRow } from "./wire.ts";

/** An event of a run, with its number in its thread. */
export interface Said {
  thread: string;
  run: string;
  attempt: number;
  n: number;
  event: WireEvent;
}

interface Followed {
  /** The number of the last event that was read. */
  last: number;
  run: string | undefined;
  attempt: number;
  row: number;
  reader: SharedReader;
}

export interface FeedOptions {
  onSaid: (said: Said) => void;
  /** Hears of news in a thread that is not followed. */
  onOther: (thread: string) => void;
}

/**
 * Reads what workers say of the threads that somebody follows here, in order and without a gap. What was said while
 * nobody could hear is read by `catchUp`.
 */
export class Feed {
  readonly #db: ClusterDatabase;
  readonly #options: FeedOptions;
  readonly #threads = new Map<string, Followed>();
  readonly #news = new Set<string>();
  #reading: Promise<void> | undefined;

  constructor(db: ClusterDatabase, options: FeedOptions) {
    this.#db = db;
    this.#options = options;
    db.signals.on("events", (payload) => {
      for (const thread of payload.split("\n")) {
        if (this.#threads.has(thread)) this.#news.add(thread);
        else options.onOther(thread);
      }
      void this.#read();
    });
  }

  isFollowing(thread: string): boolean {
    return this.#threads.has(thread);
  }

  /** Reads all that is still known of a thread, and from then on what is said. */
  async follow(thread: string): Promise<void> {
    if (!this.#threads.has(thread)) {
      this.#threads.set(thread, { last: 0, run: undefined, attempt: 0, row: 0, reader: new SharedReader() });
    }
    await this.#db.signals.hearing();
    await this.catchUp(thread);
  }

  /** Resolves when all is read that was there at the time of the call. Waits for a database that is away. */
  async catchUp(thread: string): Promise<void> {
    this.#news.add(thread);
    // What is read at the moment may have been asked for before.
    await this.#reading;
    await this.#read();
  }

  forget(thread: string): void {
    this.#threads.delete(thread);
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readAll(): Promise<void> {
    while (this.#news.size > 0) {
      const threads = [...this.#news].filter((thread) => this.#threads.has(thread));
      this.#news.clear();
      try {
        await this.#readThreads(threads);
      } catch {
        for (const thread of threads) this.#news.add(thread);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #readThreads(threads: readonly string[]): Promise<void> {
    const followed = new Map(threads.map((thread) => [thread, this.#threads.get(thread)]));
    const { rows } = await this.#db.pool.query<{ thread: string; seq: string; body: string }>({
      name: "holdfast_feed",
      text: `SELECT e.thread, e.seq, e.body FROM unnest($1::text[], $2::bigint[]) u (thread, last)
        JOIN ${SCHEMA}.events e ON e.thread = u.thread AND e.seq > u.last ORDER BY e.thread, e.seq`,
      values: [threads, threads.map((thread) => followed.get(thread)?.last ?? 0)],
    });
    for (const { thread, seq, body } of rows) {
      // Meanwhile another thread may have its name.
      if (this.#threads.get(thread) === followed.get(thread))
        this.#take(thread, Number(seq), JSON.parse(body) as WireRow);
    }
  }

  #take(thread: string, seq: number, { run, attempt, row, events }: WireRow): void {
    const followed = this.#threads.get(thread);
    if (!followed || seq <= followed.last) return;
    followed.last = seq + events.length - 1;
    if (row === 0) Object.assign(followed, { run, attempt, row: 0, reader: new SharedReader() });
    // Without what was said first, as after a crash of the database, the rest cannot be read.
    if (followed.run !== run || followed.attempt !== attempt || followed.row !== row) return;
    followed.row += 1;
    for (const [at, written] of events.entries()) {
      const event = followed.reader.read(written) as WireEvent;
      this.#options.onSaid({ thread, run, attempt, n: seq + at, event });
    }
  }
}

const RETRY_MS = 250;
