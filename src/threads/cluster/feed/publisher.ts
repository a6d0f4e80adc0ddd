import type { ClusterDatabase } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";
import { CHANNELS } from "../database/signals.ts";
import type { Job } from "../queue/job-table.ts";
import { isPassing } from "../queue/transient-failure.ts";
import { SharedWriter } from "./shared-json.ts";
import type { WireEvent, WireRow } from "./wire.ts";

/** The time for which events are collected: few rows are cheaper than many. */
const BATCH_MS = 25;
const RETRY_MS = 250;

/** The most that fits in one notification, with some room. */
const PAYLOAD = 7000;

interface Row {
  thread: string;
  seq: number;
  run: string;
  attempt: number;
  body: string;
}

interface Taken {
  stream: RunStream;
  row: Row;
}

/**
 * Writes what the runs of a worker say, all of them in one statement at a time: two under way could arrive in the wrong
 * order, and a reader would skip one. What a worker says that has lost its run is not written.
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
   * Numbers go on rising from run to run of a thread, whichever worker has them. `onFailure` hears that what the run says
   * can never be written.
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

  /** Resolves when all that was said is there to be read. Waits for a database that is away. */
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
    const taken = [...this.#streams].filter(({ hasMore }) => hasMore);
    await this.#writeRows(taken.map((stream) => ({ stream, row: stream.take() })));
  }

  /**
   * Writes rows. Rows that cannot be written now are retried unchanged; a row that can never be written is found by
   * writing each alone.
   */
  async #writeRows(taken: readonly Taken[]): Promise<void> {
    while (!taken.every(({ stream }) => stream.isGivenUp)) {
      try {
        await this.#insert(taken.map(({ row }) => row));
        for (const { stream } of taken) stream.noteWritten();
        return;
      } catch (error) {
        if (isPassing(error)) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        else if (taken.length === 1) taken[0]!.stream.fail(error as Error);
        else {
          for (const one of taken) await this.#writeRows([one]);
          return;
        }
      }
    }
  }

  async #insert(rows: readonly Row[]): Promise<void> {
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

/** More than are ever said in `BATCH_MS`. */
const MOST_IN_ROW = 1_000_000;

interface Hearers {
  onMore: () => void;
  /** Called when an event of the run can never be written. */
  onFailure: () => void;
}

/** The events of one run that are not written yet. */
export class RunStream {
  readonly #job: Job;
  readonly #writer = new SharedWriter();
  readonly #hearers: Hearers;
  #next: number;
  #row = 0;
  #waiting: string[] = [];
  #isUnderWay = false;
  #isGivenUp = false;
  #failure: Error | undefined;

  constructor(job: Job, first: number, hearers: Hearers) {
    this.#job = job;
    this.#next = first;
    this.#hearers = hearers;
  }

  /** Whether nobody waits for what is left. */
  get isGivenUp(): boolean {
    return this.#isGivenUp;
  }

  get hasMore(): boolean {
    return this.#waiting.length > 0;
  }

  get isWritten(): boolean {
    return !this.hasMore && !this.#isUnderWay;
  }

  /** Why what it says can never be written. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  push(event: WireEvent): void {
    if (this.#isGivenUp) return;
    // Written out now: what is streamed may be changed in a moment.
    this.#waiting.push(this.#writer.write(event));
    this.#hearers.onMore();
  }

  take(): Row {
    const events = this.#waiting;
    this.#waiting = [];
    this.#isUnderWay = true;
    const { id: run, thread, attempt } = this.#job;
    const about: Omit<WireRow, "events"> = { run, attempt, row: this.#row };
    const body = `${JSON.stringify(about).slice(0, -1)},"events":[${events.join()}]}`;
    const row = { thread, seq: this.#next, run, attempt, body };
    this.#next += events.length;
    this.#row += 1;
    return row;
  }

  /** Hears that the row which was taken last can be read. */
  noteWritten(): void {
    this.#isUnderWay = false;
  }

  giveUp(): void {
    this.#isGivenUp = true;
    this.#waiting = [];
  }

  fail(cause: Error): void {
    this.#failure = new Error(`What the run says cannot be written: ${cause.message}.`, { cause });
    this.giveUp();
    this.#hearers.onFailure();
  }
}

/** The names of threads, in as many notifications as they need. */
function payloads(threads: readonly string[]): string[] {
  const texts: string[] = [];
  for (const thread of new Set(threads)) {
    const last = texts.at(-1);
    if (last === undefined || last.length + thread.length > PAYLOAD) texts.push(thread);
    else texts[texts.length - 1] = `${last}\n${thread}`;
  }
  return texts;
}
