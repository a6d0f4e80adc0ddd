import { type Checkpoint, type PendingWrite } from "@langchain/langgraph-checkpoint";
import { isWaiting, toColumns, toThreadSummary, type ThreadSummary } from "../store/index.ts";
import { corrupt, THREADS, type Connection, type StoredThread } from "./database/index.ts";
import type { Heads } from "./latest-checkpoints.ts";
import { isAlive, type Leases } from "./leases.ts";

const EMPTY = { title: null, done: 0, total: 0, checkpoint: null, seq: 0, unfinished: 0, interrupted: 0 };

/** The index of threads: what a list of them shows, without reading their checkpoints. */
export class Threads {
  readonly #connection: Connection;
  readonly #heads: Heads;
  readonly #leases: Leases;

  constructor(connection: Connection, heads: Heads, leases: Leases) {
    this.#connection = connection;
    this.#heads = heads;
    this.#leases = leases;
  }

  find(id: string): StoredThread | undefined {
    const thread = this.#connection.known.get(nameOf(id), () =>
      THREADS.get(this.#connection, "WHERE id = ?", [id]),
    );
    if (thread && thread.id !== id)
      throw corrupt(this.#connection.path, "its list of threads is out of order");
    return thread;
  }

  /** The number of a thread in the other tables. */
  key(id: string): number | undefined {
    return this.find(id)?.key;
  }

  ensure(id: string): StoredThread {
    return this.find(id) ?? this.#add(id);
  }

  #add(id: string): StoredThread {
    const now = Date.now();
    const { id: key } = this.#connection.run("INSERT INTO threads (id, created, updated) VALUES (?, ?, ?)", [
      id,
      now,
      now,
    ]);
    this.#heads.setThreads(this.#heads.countThreads() + 1);
    return this.save({ ...EMPTY, key, id, created: now, updated: now });
  }

  /** Notes what a list shows of the newest checkpoint of the main graph. */
  note(thread: StoredThread, seq: number, checkpoint: Checkpoint): void {
    this.save({
      ...thread,
      ...toColumns(checkpoint),
      updated: Date.now(),
      seq,
      interrupted: seq === thread.seq ? thread.interrupted : 0,
    });
  }

  /** Notes that the newest checkpoint waits for an answer, when that is what tasks have written to it. */
  noteWrites(thread: StoredThread, checkpoint: string, writes: readonly PendingWrite[]): void {
    if (isWaiting(writes) && thread.checkpoint === checkpoint) this.save({ ...thread, interrupted: 1 });
  }

  /** Notes how far a plan is, when that is known better than from the newest checkpoint. */
  progress(id: string, { done, total }: ThreadSummary["todos"]): void {
    const thread = this.find(id);
    if (thread && (thread.done !== done || thread.total !== total)) this.save({ ...thread, done, total });
  }

  /** The threads that somebody works on, each with a mark that changes with all that is saved of it. */
  atWork(): Map<string, string> {
    const found = this.#leases.held().flatMap((id) => this.find(id) ?? []);
    return new Map(found.map(({ id, key }) => [id, this.#heads.mark(key)]));
  }

  list(limit: number): ThreadSummary[] {
    const newestFirst = "ORDER BY threads.seq DESC, threads.key DESC LIMIT ?";
    const threads = THREADS.all(this.#connection, newestFirst, [limit]);
    const { found } = this.#connection.get("SELECT count(*) AS found FROM threads NOT INDEXED") as {
      found: number;
    };
    const expected = this.#heads.countThreads();
    if (found !== expected) {
      throw corrupt(this.#connection.path, `of ${expected} threads there are ${found}`);
    }
    return threads.map((thread) => this.#summary(thread));
  }

  get(id: string): ThreadSummary | undefined {
    const thread = this.find(id);
    return thread && this.#summary(thread);
  }

  remove(id: string): void {
    const key = this.key(id);
    if (key === undefined) return;
    this.#connection.known.save();
    for (const table of ["writes", "checkpoints", "blobs", "heads", "edits"]) {
      this.#connection.run(`DELETE FROM ${table} WHERE thread = ?`, [key]);
    }
    this.#connection.run("DELETE FROM threads WHERE key = ?", [key]);
    this.#connection.known.clear();
    this.#heads.setThreads(this.#heads.countThreads() - 1);
  }

  save(thread: StoredThread): StoredThread {
    this.#connection.known.put(nameOf(thread.id), thread, () => this.#write(thread));
    return thread;
  }

  #write(thread: StoredThread): void {
    const { key, updated, title, done, total, checkpoint, seq, unfinished, interrupted } = thread;
    this.#connection.run(
      "UPDATE threads SET updated = ?, title = ?, done = ?, total = ?, checkpoint = ?, seq = ?, unfinished = ?, interrupted = ?, seal = ? WHERE key = ?",
      [updated, title, done, total, checkpoint, seq, unfinished, interrupted, THREADS.seal(thread), key],
    );
  }

  #summary(thread: StoredThread): ThreadSummary {
    const lease = this.#leases.find(thread.id);
    return toThreadSummary(thread, lease !== undefined && isAlive(lease));
  }
}

function nameOf(id: string): string {
  return `thread ${id}`;
}
