import type { ClusterDatabase } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";
import { SharedReader } from "./shared-json.ts";
import type { WireEvent, WireRow } from "./wire.ts";

/** An event of a run, with its number in its thread. */
export interface FeedEvent {
  thread: string;
  run: string;
  attempt: number;
  n: number;
  event: WireEvent;
}

interface Subscription {
  /** The number of the last event that was read. */
  last: number;
  run: string | undefined;
  attempt: number;
  row: number;
  reader: SharedReader;
}

interface FeedOptions {
  onEvent: (event: FeedEvent) => void;
  /** Called with a thread that has new events and is not followed here. */
  onOther: (thread: string) => void;
}

/**
 * The workers' events of the threads that this process follows, in order and without gaps. Postgres notifies of new
 * events; `catchUp` reads those that were written while the connection was lost.
 */
export class Feed {
  readonly #db: ClusterDatabase;
  readonly #options: FeedOptions;
  readonly #threads = new Map<string, Subscription>();
  readonly #unread = new Set<string>();
  #reading: Promise<void> | undefined;

  constructor(db: ClusterDatabase, options: FeedOptions) {
    this.#db = db;
    this.#options = options;
    db.signals.on("events", (payload) => {
      for (const thread of payload.split("\n")) {
        if (this.#threads.has(thread)) this.#unread.add(thread);
        else options.onOther(thread);
      }
      void this.#read();
    });
  }

  /** Reads the stored events of a thread, and new ones from then on. */
  async follow(thread: string): Promise<void> {
    if (!this.#threads.has(thread)) {
      this.#threads.set(thread, { last: 0, run: undefined, attempt: 0, row: 0, reader: new SharedReader() });
    }
    await this.#db.signals.listening();
    await this.catchUp(thread);
  }

  /** Resolves when all events that were stored at the time of the call are read. Waits for a database that is away. */
  async catchUp(thread: string): Promise<void> {
    this.#unread.add(thread);
    // The current query may have started before the event was stored.
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
    while (this.#unread.size > 0) {
      const threads = [...this.#unread].filter((thread) => this.#threads.has(thread));
      this.#unread.clear();
      try {
        await this.#readThreads(threads);
      } catch {
        for (const thread of threads) this.#unread.add(thread);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #readThreads(threads: readonly string[]): Promise<void> {
    const readers = new Map(threads.map((thread) => [thread, this.#threads.get(thread)]));
    const { rows } = await this.#db.pool.query<{ thread: string; seq: string; body: string }>({
      name: "holdfast_feed",
      text: `SELECT e.thread, e.seq, e.body FROM unnest($1::text[], $2::bigint[]) u (thread, last)
        JOIN ${SCHEMA}.events e ON e.thread = u.thread AND e.seq > u.last ORDER BY e.thread, e.seq`,
      values: [threads, threads.map((thread) => readers.get(thread)?.last ?? 0)],
    });
    for (const { thread, seq, body } of rows) {
      // The subscription may have changed during the query.
      if (this.#threads.get(thread) === readers.get(thread))
        this.#take(thread, Number(seq), JSON.parse(body) as WireRow);
    }
  }

  #take(thread: string, seq: number, { run, attempt, row, events }: WireRow): void {
    const subscription = this.#threads.get(thread);
    if (!subscription || seq <= subscription.last) return;
    subscription.last = seq + events.length - 1;
    if (row === 0) Object.assign(subscription, { run, attempt, row: 0, reader: new SharedReader() });
    // Events refer to earlier rows of the attempt: if one is lost, as in a crash of the database, the rest is unreadable.
    if (subscription.run !== run || subscription.attempt !== attempt || subscription.row !== row) return;
    subscription.row += 1;
    for (const [at, json] of events.entries()) {
      const event = subscription.reader.read(json) as WireEvent;
      this.#options.onEvent({ thread, run, attempt, n: seq + at, event });
    }
  }
}

const RETRY_MS = 250;
