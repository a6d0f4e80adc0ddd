import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  WRITES_IDX_MAP,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import { encodeChannels, fixedOf, isEdit } from "../checkpoints.ts";
import { leaseOf, readKey, toConfig } from "../keys.ts";
import { Save } from "../save.ts";
import { Seen } from "../seen.ts";
import type { CheckpointSummary, ListCheckpointsOptions } from "../summary.ts";
import { changed, naming } from "../thread-errors.ts";
import type { AcquireOptions, Release, ThreadStore, ThreadSummary } from "../thread-store.ts";
import { glance, isWaiting } from "../threads.ts";
import { Turns } from "../turns.ts";
import type { Database } from "./database.ts";
import { readParent, type Desk } from "./desk.ts";
import { Leases } from "./leases.ts";
import { PostgresLedger } from "./ledger.ts";
import { Lines, type Job } from "./lines.ts";
import { PostgresMailbox } from "./mailbox.ts";
import { Reader } from "./reader.ts";
import type { CheckpointRow, ThreadRow, WriteRow } from "./rows.ts";
import { addWrites, again, append, touch, type Change } from "./statements.ts";
import { isText, toText } from "./text.ts";
import { Threads } from "./threads.ts";

/**
 * A LangGraph checkpointer over a Postgres database, with an index of its threads, for processes on many machines. It
 * keeps the promises of `sqliteSaver`: each message is stored once per thread, a list that grows stores only what is
 * new, and writes are saved in the order of the calls.
 *
 * Each `put` and `putWrites` is one statement, in which it is certain that nobody else has the thread: a run whose
 * thread was taken over cannot write any more, whatever it believes.
 */
export class PostgresSaver extends BaseCheckpointSaver implements ThreadStore {
  readonly ledger: PostgresLedger;
  /** @internal The database itself, for what else is kept in it. */
  readonly database: Database;
  readonly #leases: Leases;
  readonly #lines: Lines;
  readonly #reader: Reader;
  readonly #threads: Threads;
  readonly #seen = new Seen();
  readonly #turns = new Turns();

  /** @internal Made by `postgresSaver`. */
  constructor(database: Database) {
    super();
    this.database = database;
    this.ledger = new PostgresLedger(database);
    this.#leases = new Leases(database);
    this.#lines = new Lines(database, this.#leases);
    this.#threads = new Threads(database);
    this.#reader = new Reader({
      database,
      lines: this.#lines,
      seen: this.#seen,
      serde: this.serde,
      firstVersion: () => this.getNextVersion(undefined),
    });
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<ReturnType<typeof toConfig>> {
    const { threadId, ns, id: parent } = this.#readKey(config);
    const { id } = checkpoint;
    const exact = isEdit(metadata);
    let known: number | undefined;
    await this.#write({
      threadId,
      token: leaseOf(config),
      isReady: (desk) => exact || parent === "" || desk.hasParent(ns, parent),
      prepare: (desk) => readParent(desk, ns, parent, this.database),
      onKnown: (seq) => void (known = seq),
      encode: (desk, token) => {
        const top = desk.heads.get(ns);
        const isOvertaken = metadata.source !== "fork" && this.#isOvertaken(desk, ns, parent);
        // One that is there may be put again.
        if (isOvertaken && known === undefined && !desk.hasParent(ns, id)) throw changed(threadId);
        const encoder = desk.encoder();
        const before = exact || parent === "" ? undefined : desk.parent(ns, parent);
        const channels = encodeChannels(checkpoint, { newVersions, exact, before }, encoder);
        const fixed = fixedOf(checkpoint);
        const row: CheckpointRow = {
          thread: desk.key,
          seq: known ?? desk.row.seqs + 1,
          ns,
          id,
          parent: parent === "" ? null : parent,
          head: JSON.stringify(fixed),
          channels: JSON.stringify(channels),
          metadata: encoder.encode(metadata),
        };
        desk.setParent(ns, id, { fixed, channels });
        const seqs = Math.max(desk.row.seqs, row.seq);
        const change = this.#change(desk, token, {
          seqs,
          ...(ns === "" && noteOf(desk, checkpoint)),
        });
        this.#seen.add({ thread: desk.key, ns, id });
        const { schema } = this.database;
        if (known !== undefined) return { fresh: change.fresh, statement: again(schema, change, row) };
        desk.heads.set(ns, { thread: desk.key, ns, seq: row.seq, id });
        return {
          fresh: change.fresh,
          statement: append(schema, change, { checkpoint: row, top, isEdit: exact }),
        };
      },
    });
    return toConfig({ threadId, ns, id });
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return Save.of(() => {
      const { threadId, ns, id } = this.#readKey(config);
      if (id === "") {
        throw new HarnessError("invalid-request", "The checkpoint that the writes belong to is not named.");
      }
      return this.#write({
        threadId,
        token: leaseOf(config),
        encode: (desk, token) => {
          if (this.#isOvertaken(desk, ns, id)) throw changed(threadId);
          const place = { thread: desk.key, ns, checkpoint: id, task: taskId };
          const rows = rowsOf(place, writes, desk);
          const isNewest = desk.heads.get(ns)?.id === id;
          const isAsking = ns === "" && isWaiting(writes);
          if (isAsking && !isNewest) desk.asking.add(id);
          const change = this.#change(desk, token, isAsking && isNewest ? { interrupted: 1 } : {});
          const added = { ns, checkpoint: id, task: taskId, rows, isNewest };
          return { fresh: change.fresh, statement: addWrites(this.database.schema, change, added) };
        },
      });
    });
  }

  /** What a statement changes of the thread itself; the desk is as it will be then. */
  #change(desk: Desk, token: string | undefined, change: Partial<ThreadRow>): Change {
    const fresh = desk.blobs.take();
    desk.row = { ...desk.row, ...change, blobs: desk.blobs.last };
    return { desk, row: desk.row, fresh, token };
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const key = this.#readKey(config);
    const tuple = await naming(key.threadId, () => this.#reader.tuple(key));
    await this.#turns.pass();
    return tuple;
  }

  /** Newest first. `listCheckpoints` gives the same without any values. */
  override async *list(
    config: RunnableConfig,
    options: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    yield* this.#reader.list(config, options);
  }

  /** Deletes a thread with everything stored for it. Throws `thread-busy` when another process works on it. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#lines.settled(threadId);
    await this.#threads.remove(threadId, this.#leases.tokenOf(threadId));
    this.#lines.forget(threadId);
  }

  async listThreads({ limit = 100 }: { limit?: number } = {}): Promise<ThreadSummary[]> {
    return this.#threads.list(limit);
  }

  async getThread(threadId: string): Promise<ThreadSummary | undefined> {
    return naming(threadId, () => this.#threads.get(threadId));
  }

  async noteProgress(threadId: string, { done, total }: ThreadSummary["todos"]): Promise<void> {
    await this.#write({
      threadId,
      token: undefined,
      encode: (desk, token) => {
        if (desk.isNew) return undefined;
        const change = this.#change(desk, token, { done, total });
        return { fresh: change.fresh, statement: touch(this.database.schema, change) };
      },
    });
  }

  async getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    return naming(threadId, () => this.#reader.values(threadId, channels));
  }

  async getLast(threadId: string, channel: string, count = 1): Promise<unknown[]> {
    return naming(threadId, () => this.#reader.last(threadId, channel, count));
  }

  async listCheckpoints(
    threadId: string,
    options: ListCheckpointsOptions = {},
  ): Promise<CheckpointSummary[]> {
    return naming(threadId, () => this.#reader.summaries(threadId, options));
  }

  acquireThread(threadId: string, options?: AcquireOptions): Promise<Release> {
    return this.#leases.acquire(threadId, options);
  }

  threadsAtWork(): Promise<Map<string, string>> {
    return this.#leases.atWork();
  }

  async mailbox(threadId: string): Promise<PostgresMailbox | undefined> {
    const key = await this.#threads.key(threadId);
    return key === undefined ? undefined : new PostgresMailbox(this.database, key);
  }

  async close(): Promise<void> {
    if (!this.database.isOpen) return;
    await this.#leases.close();
    await this.database.close();
  }

  #write(job: Job): Promise<void> {
    return naming(job.threadId, () => this.#lines.write(job));
  }

  /** Postgres has no text with a zero in it, and none with half a character. */
  #readKey(config: RunnableConfig): ReturnType<typeof readKey> {
    const key = readKey(config);
    if (isText(key.threadId)) return key;
    throw new HarnessError("invalid-request", "The name of the thread has characters that cannot be stored.");
  }

  /** As in SQLite: whether somebody else has gone on from a checkpoint that was the newest when it was read here. */
  #isOvertaken(desk: Desk, ns: string, id: string): boolean {
    return this.#seen.has({ thread: desk.key, ns, id }) && desk.heads.get(ns)?.id !== id;
  }
}

/** What a list shows of a checkpoint of the main graph. */
function noteOf({ row, asking }: Desk, checkpoint: Checkpoint): Partial<ThreadRow> {
  const seen = glance(checkpoint);
  const wasAsking = asking.delete(checkpoint.id) ? 1 : 0;
  return {
    ...seen,
    title: seen.title && toText(seen.title),
    updated: Date.now(),
    interrupted: row.checkpoint === checkpoint.id ? row.interrupted : wasAsking,
  };
}

/** Errors, interrupts and answers to them have a place each, which the last one gets. */
function rowsOf(
  place: Omit<WriteRow, "idx" | "channel" | "value">,
  writes: readonly PendingWrite[],
  desk: Desk,
): WriteRow[] {
  const encoder = desk.encoder();
  const rows = new Map<number, WriteRow>();
  for (const [at, [channel, value]] of writes.entries()) {
    const idx = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : at;
    rows.set(idx, { ...place, idx, channel, value: encoder.encode(value) });
  }
  return [...rows.values()];
}
