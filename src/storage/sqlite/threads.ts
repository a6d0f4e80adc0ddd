import { type Checkpoint, type PendingWrite } from "@langchain/langgraph-checkpoint";
import { hasInterrupt, isText, toColumns, toThreadSummary, type ThreadSummary } from "../store/index.ts";
import { corrupt, THREADS, toText, type Connection, type ThreadRow } from "./database/index.ts";
import type { LatestCheckpoints } from "./latest-checkpoints.ts";
import { isAlive, type Leases } from "./leases.ts";

const EMPTY = { title: null, done: 0, total: 0, checkpoint: null, seq: 0, unfinished: 0, interrupted: 0 };

/** The index of threads: their summaries, without reading checkpoints. */
export class Threads {
  readonly #connection: Connection;
  readonly #latest: LatestCheckpoints;
  readonly #leases: Leases;

  constructor(connection: Connection, latest: LatestCheckpoints, leases: Leases) {
    this.#connection = connection;
    this.#latest = latest;
    this.#leases = leases;
  }

  find(id: string): ThreadRow | undefined {
    const thread = THREADS.get(this.#connection, "WHERE id = ?", [id]);
    if (thread && thread.id !== id) throw outOfOrder(this.#connection);
    return thread;
  }

  /** The number of a thread in the other tables. */
  key(id: string): number | undefined {
    return this.find(id)?.key;
  }

  ensure(id: string): ThreadRow {
    return this.find(id) ?? this.#add(id);
  }

  #add(id: string): ThreadRow {
    const now = Date.now();
    const { id: key } = this.#connection.run("INSERT INTO threads (id, created, updated) VALUES (?, ?, ?)", [
      id,
      now,
      now,
    ]);
    this.#latest.setThreadCount(this.#latest.countThreads() + 1);
    return this.#save({ ...EMPTY, key, id, created: now, updated: now });
  }

  /** Updates the summary of a thread from the newest checkpoint of the main graph. */
  update(thread: ThreadRow, seq: number, checkpoint: Checkpoint): void {
    this.#save({
      ...thread,
      ...toColumns(checkpoint),
      updated: Date.now(),
      seq,
      interrupted: seq === thread.seq ? thread.interrupted : 0,
    });
  }

  /** Marks a thread as interrupted when the writes to its newest checkpoint include an interrupt. */
  updateInterrupted(thread: ThreadRow, checkpoint: string, writes: readonly PendingWrite[]): void {
    if (hasInterrupt(writes) && thread.checkpoint === checkpoint) this.#save({ ...thread, interrupted: 1 });
  }

  /** Sets the progress of a plan that is ahead of the newest checkpoint. */
  setProgress(id: string, { done, total }: ThreadSummary["todos"]): void {
    const thread = this.find(id);
    if (thread && (thread.done !== done || thread.total !== total)) this.#save({ ...thread, done, total });
  }

  /** The threads that some process works on, each with a version that changes with every save. */
  atWork(): Map<string, string> {
    const threads = this.#leases.heldThreads().flatMap((id) => this.find(id) ?? []);
    return new Map(threads.map(({ id, key }) => [id, this.#latest.version(key)]));
  }

  list(limit: number): ThreadSummary[] {
    const newestFirst = "ORDER BY threads.seq DESC, threads.key DESC LIMIT ?";
    const threads = THREADS.all(this.#connection, newestFirst, [limit]);
    const { count } = this.#connection.get("SELECT count(*) AS count FROM threads NOT INDEXED") as {
      count: number;
    };
    const expected = this.#latest.countThreads();
    if (count !== expected) {
      throw corrupt(this.#connection.path, `of ${expected} threads there are ${count}`);
    }
    return threads.map((thread) => this.#summary(thread));
  }

  /** The threads among some ids, last used first. */
  among(ids: readonly string[], limit: number): ThreadSummary[] {
    const wanted = new Set(ids.filter(isText));
    const threads = THREADS.among(this.#connection, "id", [...wanted]);
    if (threads.some(({ id }) => !wanted.has(id))) throw outOfOrder(this.#connection);
    return threads
      .toSorted((a, b) => b.seq - a.seq || b.key - a.key)
      .slice(0, limit)
      .map((thread) => this.#summary(thread));
  }

  get(id: string): ThreadSummary | undefined {
    const thread = this.find(id);
    return thread && this.#summary(thread);
  }

  /** The threads whose mailbox has a request without an answer. */
  withMail(): Set<string> {
    const sql =
      "SELECT CAST(t.id AS BLOB) AS id FROM edits e JOIN threads t ON t.key = e.thread WHERE e.outcome IS NULL";
    return new Set(this.#connection.all(sql).map(({ id }) => toText(id)));
  }

  remove(id: string): void {
    // The ledger's tables know a thread by its id, the others by its number.
    for (const table of ["hosted", "runs"]) {
      this.#connection.run(`DELETE FROM ${table} WHERE thread = ?`, [id]);
    }
    const key = this.key(id);
    if (key === undefined) return;
    for (const table of ["writes", "checkpoints", "blobs", "heads", "edits"]) {
      this.#connection.run(`DELETE FROM ${table} WHERE thread = ?`, [key]);
    }
    this.#connection.run("DELETE FROM threads WHERE key = ?", [key]);
    this.#latest.setThreadCount(this.#latest.countThreads() - 1);
  }

  #save(thread: ThreadRow): ThreadRow {
    const { key, updated, title, done, total, checkpoint, seq, unfinished, interrupted } = thread;
    this.#connection.run(
      "UPDATE threads SET updated = ?, title = ?, done = ?, total = ?, checkpoint = ?, seq = ?, unfinished = ?, interrupted = ?, seal = ? WHERE key = ?",
      [updated, title, done, total, checkpoint, seq, unfinished, interrupted, THREADS.checksum(thread), key],
    );
    return thread;
  }

  #summary(thread: ThreadRow): ThreadSummary {
    const lease = this.#leases.find(thread.id);
    return toThreadSummary(thread, lease !== undefined && isAlive(lease));
  }
}

function outOfOrder({ path }: Connection): Error {
  return corrupt(path, "its list of threads is out of order");
}
