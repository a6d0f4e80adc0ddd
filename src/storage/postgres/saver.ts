import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import {
  encodeChannels,
  EventLoopTurns,
  HandledSave,
  headerOf,
  type HistoryOptions,
  isEdit,
  leaseToken,
  ReadCheckpoints,
  readKey,
  toConfig,
  writeIndex,
} from "../checkpoint/index.ts";
import { frozenCopy } from "../codec/index.ts";
import {
  hasInterrupt,
  Mailbox,
  onThread,
  RecordLedger,
  threadChanged,
  toColumns,
  toText,
  type AcquireOptions,
  type CheckpointSummary,
  type Ledger,
  type ListCheckpointsOptions,
  type ListThreadsOptions,
  type Release,
  type ThreadStore,
  type ThreadSummary,
} from "../store/index.ts";
import type { CheckpointRow, Database, ThreadRow, WriteRow } from "./database/index.ts";
import { Leases } from "./leases.ts";
import { Reader } from "./reader.ts";
import { PostgresRecords } from "./records.ts";
import { Threads } from "./threads.ts";
import { readParent, WriteQueues, type Change, type ThreadCache, type ThreadWrite } from "./writes/index.ts";

/**
 * A LangGraph checkpointer over a Postgres database, with an index of its threads, for processes on many machines. It
 * keeps the promises of `sqliteSaver`: each message is stored once per thread, a list that grows stores only its new
 * items, and writes are saved in the order of the calls.
 *
 * A checkpoint is one statement with the writes of tasks before it; writes alone are one statement at the end of the turn
 * of the event loop. Each statement checks the lease: a run whose thread was taken over can no longer write.
 */
export class PostgresSaver extends BaseCheckpointSaver implements ThreadStore {
  readonly ledger: Ledger;
  /** @internal The database, for other tables in it. */
  readonly database: Database;
  readonly #records: PostgresRecords;
  readonly #leases: Leases;
  readonly #queues: WriteQueues;
  readonly #reader: Reader;
  readonly #threads: Threads;
  readonly #readCheckpoints = new ReadCheckpoints();
  readonly #eventLoop = new EventLoopTurns();

  /** @internal Made by `postgresSaver`. */
  constructor(database: Database) {
    super();
    this.database = database;
    this.#records = new PostgresRecords(database);
    this.ledger = new RecordLedger(this.#records);
    this.#leases = new Leases(database);
    this.#queues = new WriteQueues(database, this.#leases);
    this.#threads = new Threads(database);
    this.#reader = new Reader({
      database,
      queues: this.#queues,
      readCheckpoints: this.#readCheckpoints,
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
    const { threadId, ns, id: parent } = readKey(config);
    const { id } = checkpoint;
    const isEdited = isEdit(metadata);
    let existingSeq: number | undefined;
    let wasRead = false;
    await this.#write({
      threadId,
      token: leaseToken(config),
      isUrgent: true,
      isReady: (cache) => isEdited || parent === "" || cache.hasParent(ns, parent),
      prepare: (cache) => readParent(cache, ns, parent, this.database),
      onExisting: (seq) => void (existingSeq = seq),
      // Writes to this checkpoint that were queued before are encoded before it counts as read.
      onDiscard: ({ key }) => void (wasRead || this.#readCheckpoints.delete({ thread: key, ns, id })),
      encode: (cache) => {
        const top = cache.heads.get(ns);
        const isOvertaken = metadata.source !== "fork" && this.#isOvertaken(cache, ns, parent);
        // An existing checkpoint may be put again.
        const exists = existingSeq !== undefined || top?.id === id || cache.hasParent(ns, id);
        if (isOvertaken && !exists) throw threadChanged(threadId);
        const encoder = cache.encoder();
        const base = isEdited || parent === "" ? undefined : cache.parent(ns, parent);
        const channels = encodeChannels(checkpoint, { newVersions, isEdited, parent: base }, encoder);
        const header = headerOf(checkpoint);
        const row: CheckpointRow = {
          thread: cache.key,
          seq: existingSeq ?? cache.row.seqs + 1,
          ns,
          id,
          parent: parent === "" ? null : parent,
          head: JSON.stringify(header),
          channels: JSON.stringify(channels),
          metadata: encoder.encode(metadata),
        };
        cache.setParent(ns, id, { header, channels });
        const seqs = Math.max(cache.row.seqs, row.seq);
        const rowKey = { thread: cache.key, ns, id };
        wasRead = this.#readCheckpoints.has(rowKey);
        this.#readCheckpoints.add(rowKey);
        const isRepeat = existingSeq !== undefined;
        if (!isRepeat) cache.heads.set(ns, { thread: cache.key, ns, seq: row.seq, id });
        return {
          ...changeOf(cache, { seqs, ...(ns === "" && rowChanges(cache, checkpoint)) }),
          checkpoint: { row, top, isEdit: isEdited, isRepeat },
        };
      },
    });
    return toConfig({ threadId, ns, id });
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return HandledSave.of(() => {
      const { threadId, ns, id } = readKey(config);
      if (id === "") {
        throw new HarnessError("invalid-request", "The checkpoint that the writes belong to is not named.");
      }
      const copies = writes.map(([channel, value]): PendingWrite => [channel, frozenCopy(value)]);
      return this.#write({
        threadId,
        token: leaseToken(config),
        isUrgent: false,
        encode: (cache) => {
          if (this.#isOvertaken(cache, ns, id)) throw threadChanged(threadId);
          const rowKey = { thread: cache.key, ns, checkpoint: id, task: taskId };
          const rows = rowsOf(rowKey, copies, cache);
          const isNewest = cache.heads.get(ns)?.id === id;
          const isInterrupt = ns === "" && hasInterrupt(copies);
          if (isInterrupt && !isNewest) cache.interruptedIds.add(id);
          const change = changeOf(cache, isInterrupt && isNewest ? { interrupted: 1 } : {});
          return { ...change, writes: rows, isLate: !isNewest };
        },
      });
    });
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const key = readKey(config);
    const tuple = await onThread(key.threadId, () => this.#reader.tuple(key));
    await this.#eventLoop.yieldIfBusy();
    return tuple;
  }

  /** Lists checkpoints, newest first. `listCheckpoints` does the same without values. */
  override async *list(
    config: RunnableConfig,
    options: HistoryOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    yield* this.#reader.list(config, options);
  }

  /** Deletes a thread with everything stored for it. Throws `thread-busy` when another process works on it. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#queues.settled(threadId);
    await onThread(threadId, () => this.#threads.remove(threadId, this.#leases.tokenOf(threadId)));
    this.#queues.forget(threadId);
  }

  async listThreads({ limit = 100, ids }: ListThreadsOptions = {}): Promise<ThreadSummary[]> {
    return this.#threads.list(limit, ids);
  }

  async getThread(threadId: string): Promise<ThreadSummary | undefined> {
    return onThread(threadId, () => this.#threads.get(threadId));
  }

  async noteProgress(threadId: string, { done, total }: ThreadSummary["todos"]): Promise<void> {
    await this.#write({
      threadId,
      token: undefined,
      isUrgent: true,
      encode: (cache) => (cache.isNew ? undefined : changeOf(cache, { done, total })),
    });
  }

  async getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    return onThread(threadId, () => this.#reader.values(threadId, channels));
  }

  async listCheckpoints(
    threadId: string,
    options: ListCheckpointsOptions = {},
  ): Promise<CheckpointSummary[]> {
    return onThread(threadId, () => this.#reader.summaries(threadId, options));
  }

  async acquireThread(threadId: string, options?: AcquireOptions): Promise<Release> {
    return onThread(threadId, () => this.#leases.acquire(threadId, options));
  }

  threadsAtWork(): Promise<Map<string, string>> {
    return this.#leases.atWork();
  }

  async mailbox(threadId: string): Promise<Mailbox | undefined> {
    const key = await onThread(threadId, () => this.#threads.key(threadId));
    return key === undefined ? undefined : new Mailbox(this.#records, key);
  }

  threadsWithMail(): Promise<ReadonlySet<string>> {
    return this.#threads.withMail();
  }

  async close(): Promise<void> {
    if (!this.database.isOpen) return;
    await this.#queues.settled();
    await this.#leases.close();
    await this.database.close();
  }

  #write(write: ThreadWrite): Promise<void> {
    return onThread(write.threadId, () => this.#queues.write(write));
  }

  /** Whether another writer has written after a checkpoint that was the newest when it was read here: see `SqliteSaver`. */
  #isOvertaken(cache: ThreadCache, ns: string, id: string): boolean {
    return this.#readCheckpoints.has({ thread: cache.key, ns, id }) && cache.heads.get(ns)?.id !== id;
  }
}

/** The columns of the thread's row after a checkpoint of the main graph. */
function rowChanges({ row, interruptedIds }: ThreadCache, checkpoint: Checkpoint): Partial<ThreadRow> {
  const columns = toColumns(checkpoint);
  const wasInterrupted = interruptedIds.delete(checkpoint.id) ? 1 : 0;
  return {
    ...columns,
    title: columns.title && toText(columns.title),
    updated: Date.now(),
    interrupted: row.checkpoint === checkpoint.id ? row.interrupted : wasInterrupted,
  };
}

/** Advances the cache, and returns the new row of the thread with the new blobs. */
function changeOf(cache: ThreadCache, change: Partial<ThreadRow>): Change {
  const newBlobs = cache.blobs.take();
  cache.row = { ...cache.row, ...change, blobs: cache.blobs.last };
  return { row: cache.row, newBlobs };
}

function rowsOf(
  rowKey: Omit<WriteRow, "idx" | "channel" | "value">,
  writes: readonly PendingWrite[],
  cache: ThreadCache,
): WriteRow[] {
  const encoder = cache.encoder();
  return writes.map(([channel, value], at) => {
    const idx = writeIndex(channel, at);
    return { ...rowKey, idx, channel, value: encoder.encode(value) };
  });
}
