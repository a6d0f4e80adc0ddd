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
import {
  encodeChannels,
  fixedOf,
  isEdit,
  leaseOf,
  readKey,
  Save,
  Seen,
  toConfig,
  Turns,
} from "../checkpoint/index.ts";
import { asItIs } from "../codec/index.ts";
import {
  changed,
  isText,
  isWaiting,
  naming,
  toColumns,
  toText,
  type AcquireOptions,
  type CheckpointSummary,
  type ListCheckpointsOptions,
  type Release,
  type ThreadStore,
  type ThreadSummary,
} from "../store/index.ts";
import type { CheckpointRow, Database, ThreadRow, WriteRow } from "./database/index.ts";
import { Leases } from "./leases.ts";
import { PostgresLedger } from "./ledger.ts";
import { PostgresMailbox } from "./mailbox.ts";
import { Reader } from "./reader.ts";
import { Threads } from "./threads.ts";
import { Lines, readParent, type Change, type Desk, type Job } from "./writes/index.ts";

/**
 * A LangGraph checkpointer over a Postgres database, with an index of its threads, for processes on many machines. It
 * keeps the promises of `sqliteSaver`: each message is stored once per thread, a list that grows stores only what is
 * new, and writes are saved in the order of the calls.
 *
 * A checkpoint is one statement, together with what tasks wrote before; the writes alone are one at the end of the turn of
 * the event loop. In each it is certain that nobody else has the thread: a run whose thread was taken over cannot write
 * any more, whatever it believes.
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
    let wasSeen = false;
    await this.#write({
      threadId,
      token: leaseOf(config),
      isUrgent: true,
      isReady: (desk) => exact || parent === "" || desk.hasParent(ns, parent),
      prepare: (desk) => readParent(desk, ns, parent, this.database),
      onKnown: (seq) => void (known = seq),
      // What tasks wrote to it before it was put is encoded before it is seen.
      onUndone: ({ key }) => void (wasSeen || this.#seen.delete({ thread: key, ns, id })),
      encode: (desk) => {
        const top = desk.heads.get(ns);
        const isOvertaken = metadata.source !== "fork" && this.#isOvertaken(desk, ns, parent);
        // One that is there may be put again.
        const isThere = known !== undefined || top?.id === id || desk.hasParent(ns, id);
        if (isOvertaken && !isThere) throw changed(threadId);
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
        const place = { thread: desk.key, ns, id };
        wasSeen = this.#seen.has(place);
        this.#seen.add(place);
        const isAgain = known !== undefined;
        if (!isAgain) desk.heads.set(ns, { thread: desk.key, ns, seq: row.seq, id });
        return {
          ...changeOf(desk, { seqs, ...(ns === "" && noteOf(desk, checkpoint)) }),
          checkpoint: { row, top, isEdit: exact, isAgain },
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
      const made = writes.map(([channel, value]): PendingWrite => [channel, asItIs(value)]);
      return this.#write({
        threadId,
        token: leaseOf(config),
        isUrgent: false,
        encode: (desk) => {
          if (this.#isOvertaken(desk, ns, id)) throw changed(threadId);
          const place = { thread: desk.key, ns, checkpoint: id, task: taskId };
          const rows = rowsOf(place, made, desk);
          const isNewest = desk.heads.get(ns)?.id === id;
          const isAsking = ns === "" && isWaiting(made);
          if (isAsking && !isNewest) desk.asking.add(id);
          const change = changeOf(desk, isAsking && isNewest ? { interrupted: 1 } : {});
          return { ...change, writes: rows, isLate: !isNewest };
        },
      });
    });
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
      isUrgent: true,
      encode: (desk) => (desk.isNew ? undefined : changeOf(desk, { done, total })),
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

  threadsWithMail(): Promise<ReadonlySet<string>> {
    return PostgresMailbox.threads(this.database);
  }

  async close(): Promise<void> {
    if (!this.database.isOpen) return;
    await this.#lines.settled();
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
  const seen = toColumns(checkpoint);
  const wasAsking = asking.delete(checkpoint.id) ? 1 : 0;
  return {
    ...seen,
    title: seen.title && toText(seen.title),
    updated: Date.now(),
    interrupted: row.checkpoint === checkpoint.id ? row.interrupted : wasAsking,
  };
}

/** What is changed of the thread itself, and what is new; the desk is as it will be then. */
function changeOf(desk: Desk, change: Partial<ThreadRow>): Change {
  const fresh = desk.blobs.take();
  desk.row = { ...desk.row, ...change, blobs: desk.blobs.last };
  return { row: desk.row, fresh };
}

function rowsOf(
  place: Omit<WriteRow, "idx" | "channel" | "value">,
  writes: readonly PendingWrite[],
  desk: Desk,
): WriteRow[] {
  const encoder = desk.encoder();
  return writes.map(([channel, value], at) => {
    const idx = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel]! : at;
    return { ...place, idx, channel, value: encoder.encode(value) };
  });
}
