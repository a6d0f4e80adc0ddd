import type { ClusterDatabase } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";
import { CHANNELS } from "../database/signals.ts";
import type { Job } from "../queue/job-table.ts";
import { isTransient } from "../queue/transient-failure.ts";
import { SharedWriter } from "./shared-json.ts";
import type { WireEvent, WireRow } from "./wire.ts";

/** The time for which events are batched. */
const BATCH_MS = 25;
const RETRY_MS = 250;

/** The most characters of a notification; Postgres allows 8000 bytes. */
const PAYLOAD = 7000;

interface FeedRow {
  thread: string;
  seq: number;
  run: string;
  attempt: number;
  body: string;
}

interface PendingRow {
  stream: RunStream;
  row: FeedRow;
}

/**
 * Writes the events of a worker's runs, all in one statement at a time: two concurrent statements could be stored in the
 * wrong order, and a reader would skip one. Events of a worker that has lost its run are not written.
 */
export class Publisher {
  readonly #db: ClusterDatabase;
  readonly #worker: string;
  readonly #streams = new Set<RunStream>();
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(db: ClusterDatabase, worker: string) {
    this.#db = db;
    this.#worker = worker;
  }

  /**
   * Opens the event stream of a run. Numbers keep rising from run to run of a thread, on any worker. `onFailure` is called
   * when an event can never be written.
   */
  async open(job: Job, onFailure: () => void): Promise<RunStream> {
    const { rows } = await this.#db.pool.query<{ next: string }>({
      name: "holdfast_stream",
      text: `SELECT greatest((extract(epoch FROM clock_timestamp()) * 1000000)::bigint, max(seq) + ${MOST_IN_ROW}) AS next
        FROM ${SCHEMA}.events WHERE thread = $1`,
      values: [job.thread],
    });
    const stream = new RunStream(job, Number(rows[0]!.next), { onMore: () => this.#soon(), onFailure });
    this.#streams.add(stream);
    return stream;
  }

  /** Resolves when all events are stored. Waits for a database that is away. */
  async close(stream: RunStream): Promise<void> {
    while (!stream.isWritten && !stream.isGivenUp) {
      this.#soon(0);
      await this.#writing;
      if (!stream.isWritten) await new Promise((resolve) => setTimeout(resolve, BATCH_MS));
    }
    this.#streams.delete(stream);
  }

  #soon(ms = BATCH_MS): void {
    if (ms > 0 && (this.#timer || this.#writing)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#writing ??= this.#write().finally(() => {
        this.#writing = undefined;
        if ([...this.#streams].some(({ hasMore }) => hasMore)) this.#soon();
      });
    }, ms);
  }

  async #write(): Promise<void> {
    const streams = [...this.#streams].filter(({ hasMore }) => hasMore);
    await this.#writeRows(streams.map((stream) => ({ stream, row: stream.take() })));
  }

  /** Retries rows that cannot be written now. Finds a row that can never be written by writing each alone. */
  async #writeRows(rows: readonly PendingRow[]): Promise<void> {
    while (!rows.every(({ stream }) => stream.isGivenUp)) {
      try {
        await this.#insert(rows.map(({ row }) => row));
        for (const { stream } of rows) stream.noteWritten();
        return;
      } catch (error) {
        if (isTransient(error)) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        else if (rows.length === 1) rows[0]!.stream.fail(error as Error);
        else {
          for (const one of rows) await this.#writeRows([one]);
          return;
        }
      }
    }
  }

  async #insert(rows: readonly FeedRow[]): Promise<void> {
    await this.#db.pool.query({
      name: "holdfast_events",
      text: `WITH said AS (
          INSERT INTO ${SCHEMA}.events (thread, seq, body)
          SELECT u.thread, u.seq, u.body
          FROM json_to_recordset($1) AS u (thread text, seq bigint, body text, run text, attempt int)
          JOIN ${SCHEMA}.jobs j ON j.id = u.run AND j.attempt = u.attempt AND j.worker = $2
          ON CONFLICT DO NOTHING)
        SELECT pg_notify('${CHANNELS.events}', payload) FROM unnest($3::text[]) payload`,
      values: [JSON.stringify(rows), this.#worker, payloads(rows.map(({ thread }) => thread))],
    });
  }
}

/** More events than one batch ever has. */
const MOST_IN_ROW = 1_000_000;

interface StreamListeners {
  onMore: () => void;
  /** Called when an event of the run can never be written. */
  onFailure: () => void;
}

/** The unwritten events of one run. */
export class RunStream {
  /** Whether the rest is dropped. */
  isGivenUp = false;
  /** Why an event can never be written. */
  failure: Error | undefined;
  readonly #job: Job;
  readonly #writer = new SharedWriter();
  readonly #listeners: StreamListeners;
  #next: number;
  #row = 0;
  #waiting: string[] = [];
  #isWriting = false;

  constructor(job: Job, first: number, listeners: StreamListeners) {
    this.#job = job;
    this.#next = first;
    this.#listeners = listeners;
  }

  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  get isWritten(): boolean {
    return !this.hasMore && !this.#isWriting;
  }

  push(event: WireEvent): void {
    if (this.isGivenUp) return;
    // Serialized now: streamed objects may change later.
    this.#waiting.push(this.#writer.write(event));
    this.#listeners.onMore();
  }

  take(): FeedRow {
    const events = this.#waiting;
    this.#waiting = [];
    this.#isWriting = true;
    const { id: run, thread, attempt } = this.#job;
    const head: Omit<WireRow, "events"> = { run, attempt, row: this.#row };
    const body = `${JSON.stringify(head).slice(0, -1)},"events":[${events.join()}]}`;
    const row = { thread, seq: this.#next, run, attempt, body };
    this.#next += events.length;
    this.#row += 1;
    return row;
  }

  /** Notes that the last row is stored. */
  noteWritten(): void {
    this.#isWriting = false;
  }

  giveUp(): void {
    this.isGivenUp = true;
    this.#waiting = [];
  }

  fail(cause: Error): void {
    this.failure = new Error(`What the run says cannot be written: ${cause.message}.`, { cause });
    this.giveUp();
    this.#listeners.onFailure();
  }
}

/** The names of threads as payloads of notifications. */
function payloads(threads: readonly string[]): string[] {
  const texts: string[] = [];
  for (const thread of new Set(threads)) {
    const last = texts.at(-1);
    if (last === undefined || last.length + thread.length > PAYLOAD) texts.push(thread);
    else texts[texts.length - 1] = `${last}\n${thread}`;
  }
  return texts;
}
