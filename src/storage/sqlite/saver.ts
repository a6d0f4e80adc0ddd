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
  EventLoopTurns,
  freezeCheckpoint,
  HandledSave,
  type HistoryOptions,
  leaseToken,
  listTuples,
  readChannels,
  ReadCheckpoints,
  readKey,
  readSummaries,
  readTuple,
  toConfig,
  type CheckpointRowKey,
} from "../checkpoint/index.ts";
import { type DecodeOptions, Decoder, Encoder, frozenCopy, Memo, MessageLists } from "../codec/index.ts";
import {
  Mailbox,
  onThread,
  RecordLedger,
  threadChanged,
  type AcquireOptions,
  type CheckpointSummary,
  type Ledger,
  type ListCheckpointsOptions,
  type ListThreadsOptions,
  type Release,
  type ThreadStore,
  type ThreadSummary,
} from "../store/index.ts";
import { Blobs } from "./blobs.ts";
import { Checkpoints } from "./checkpoints.ts";
import { BatchedWrites, type Connection, type ThreadRow } from "./database/index.ts";
import { LatestCheckpoints } from "./latest-checkpoints.ts";
import { Leases } from "./leases.ts";
import { SqliteRecords } from "./records.ts";
import { Threads } from "./threads.ts";

const DEFAULT_LIMIT = 100;
const DEFAULT_PAGE = 20;
/** 4 MB. */
const VACUUMED_PAGES = 1000;

/** A write to a thread. One that is not urgent is saved at the end of the turn of the event loop, with others. */
interface Change {
  threadId: string;
  /** The lease that it is made under, if the config names one. */
  token?: string;
  isUrgent?: boolean;
}

/**
 * A LangGraph checkpointer over one SQLite file, with an index of its threads. Each message is stored once per
 * thread. A list that grows stores only its new items, and takes only the time that these need.
 *
 * A message that is changed in place is saved again while it is one of the last 16 of its list. Older ones are
 * recognised by identity: to change one of those, replace the object.
 *
 * A checkpoint is saved before the call returns, together with the writes of tasks before it; writes alone, and all saves
 * under a lease, at the end of the turn of the event loop, in one transaction. Saves are committed in the order of the
 * calls, whenever the process is killed.
 */
export class SqliteSaver extends BaseCheckpointSaver implements ThreadStore {
  /** @internal */
  readonly ledger: Ledger;
  readonly #connection: Connection;
  readonly #blobs: Blobs;
  readonly #checkpoints: Checkpoints;
  readonly #threads: Threads;
  readonly #leases: Leases;
  readonly #memo = new Memo();
  readonly #lists = new MessageLists();
  readonly #readCheckpoints = new ReadCheckpoints();
  readonly #eventLoop = new EventLoopTurns();
  readonly #batchedWrites: BatchedWrites;
  readonly #tupleOptions = {
    exists: (threadId: string, thread: number) => this.#threads.key(threadId) === thread,
    firstVersion: () => this.getNextVersion(undefined),
  };
  readonly #records: SqliteRecords;

  /** The path of the file. */
  get path(): string {
    return this.#connection.path;
  }

  /** @internal Made by `sqliteSaver`. */
  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    this.#blobs = new Blobs(connection);
    // The blobs of a failed transaction are gone; nothing may refer to them.
    this.#batchedWrites = new BatchedWrites(connection, () => {
      this.#memo.clear();
      this.#lists.clear();
      this.#blobs.rollBack();
    });
    this.#records = new SqliteRecords(connection, this.#batchedWrites);
    this.ledger = new RecordLedger(this.#records);
    const latest = new LatestCheckpoints(connection);
    this.#checkpoints = new Checkpoints(connection, latest);
    this.#leases = new Leases(connection, this.#batchedWrites);
    this.#threads = new Threads(connection, latest, this.#leases);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<ReturnType<typeof toConfig>> {
    const { threadId, ns, id: parent } = readKey(config);
    const { id } = checkpoint;
    const token = leaseToken(config);
    const isUrgent = token === undefined;
    const copy = isUrgent ? checkpoint : freezeCheckpoint(checkpoint, metadata, newVersions);
    await this.#write({ threadId, token, isUrgent }, (thread, encoder) => {
      const rowKey = { thread: thread.key, ns, id };
      const isOvertaken = metadata.source !== "fork" && this.#isOvertaken({ ...rowKey, id: parent });
      if (isOvertaken && !this.#checkpoints.get(rowKey)) throw threadChanged(threadId);
      const seq = this.#checkpoints.put(rowKey, { parent, checkpoint: copy, metadata, newVersions }, encoder);
      if (ns === "") this.#threads.update(thread, seq, copy);
      this.#readCheckpoints.add(rowKey);
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
      // Not urgent: LangGraph waits for a checkpoint before it continues, but not for writes.
      return this.#write({ threadId, token: leaseToken(config), isUrgent: false }, (thread, encoder) => {
        const rowKey = { thread: thread.key, ns, id };
        if (this.#isOvertaken(rowKey)) throw threadChanged(threadId);
        this.#checkpoints.putWrites(rowKey, taskId, copies, encoder);
        if (ns === "") this.#threads.updateInterrupted(thread, id, copies);
      });
    });
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { threadId, ns, id: requested } = readKey(config);
    await this.#batchedWrites.settled();
    const rows = this.#snapshot(threadId, () => {
      const thread = this.#threads.key(threadId);
      const id = requested || (thread !== undefined && this.#checkpoints.latest(thread, ns));
      if (thread === undefined || !id) return undefined;
      const rowKey = { thread, ns, id };
      if (requested) this.#readCheckpoints.delete(rowKey);
      else this.#readCheckpoints.add(rowKey);
      return this.#checkpoints.read(threadId, rowKey);
    });
    if (!rows) return undefined;
    const options = { ...this.#tupleOptions, decoder: this.#decoder(rows.rowKey.thread) };
    const tuple = await onThread(threadId, () => readTuple(rows, options));
    await this.#eventLoop.yieldIfBusy();
    return tuple;
  }

  /**
   * Lists checkpoints, newest first. A long list of messages is read on first access, so the cost of a page does not
   * depend on the length of the thread; up to 64 checkpoints share their message objects. `listCheckpoints` does the same
   * without values.
   */
  override async *list(
    config: RunnableConfig,
    options: HistoryOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    const { isBrief } = options;
    await this.#batchedWrites.settled();
    const { thread, before } = this.#snapshot(threadId, () => {
      const key = this.#keyFilter(threadId);
      if (key !== undefined) this.#checkpoints.checkCount(key, ns);
      return { thread: key, before: options.before && this.#seqOf(options.before, key) };
    });
    yield* listTuples(options, {
      ...this.#tupleOptions,
      page: async (last, limit) =>
        this.#snapshot(threadId, () =>
          this.#checkpoints.page({ thread, ns, id, before: last?.stored.seq ?? before }, limit, options),
        ),
      decoder: (key) => this.#decoder(key, { isLazy: true, isBrief, isPrefetched: isBrief }),
      readCheckpoints: this.#readCheckpoints,
    });
  }

  /** Deletes a thread with everything stored for it. Throws `thread-busy` when another process works on it. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#transaction({ threadId }, () => this.#threads.remove(threadId));
    // In steps: it takes a while to free the pages of a long thread.
    for (let left = Infinity, before; left > 0 && left !== before; before = left) {
      await new Promise(setImmediate);
      if (!this.#connection.isOpen) return;
      this.#connection.all(`PRAGMA store.incremental_vacuum(${VACUUMED_PAGES})`);
      left = this.#connection.get("PRAGMA store.freelist_count")?.["freelist_count"] as number;
    }
  }

  async listThreads({ limit = DEFAULT_LIMIT, ids }: ListThreadsOptions = {}): Promise<ThreadSummary[]> {
    await this.#batchedWrites.settled();
    return this.#connection.snapshot(() =>
      ids ? this.#threads.among(ids, limit) : this.#threads.list(limit),
    );
  }

  async noteProgress(threadId: string, todos: ThreadSummary["todos"]): Promise<void> {
    await this.#transaction({ threadId, isUrgent: false }, () => this.#threads.setProgress(threadId, todos));
  }

  /** @internal Updates the summary of a thread from its newest checkpoint. */
  async noteNewest(threadId: string): Promise<void> {
    const tuple = await this.getTuple(toConfig({ threadId, ns: "", id: "" }));
    await this.#transaction({ threadId }, () => {
      const thread = this.#threads.find(threadId);
      if (tuple && thread) this.#threads.update(thread, thread.seq, tuple.checkpoint);
    });
  }

  async getThread(threadId: string): Promise<ThreadSummary | undefined> {
    await this.#batchedWrites.settled();
    return this.#snapshot(threadId, () => this.#threads.get(threadId));
  }

  async getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    await this.#batchedWrites.settled();
    const newest = this.#snapshot(threadId, () => {
      const thread = this.#threads.key(threadId);
      const id = thread === undefined ? undefined : this.#checkpoints.latest(thread, "");
      if (thread === undefined || id === undefined) return undefined;
      const stored = this.#checkpoints.get({ thread, ns: "", id });
      return stored && { thread, channels: stored.channels };
    });
    return newest ? readChannels(newest.channels, channels, this.#decoder(newest.thread)) : {};
  }

  async listCheckpoints(
    threadId: string,
    options: ListCheckpointsOptions = {},
  ): Promise<CheckpointSummary[]> {
    const { ns = "", before, limit = DEFAULT_PAGE } = options;
    await this.#batchedWrites.settled();
    const thread = this.#snapshot(threadId, () => this.#threads.key(threadId));
    if (thread === undefined) return [];
    const rows = this.#snapshot(threadId, () => this.#checkpoints.rows({ thread, ns, before }, limit));
    return readSummaries(rows, this.#decoder(thread));
  }

  async acquireThread(threadId: string, options?: AcquireOptions): Promise<Release> {
    return onThread(threadId, () => this.#leases.acquire(threadId, options));
  }

  /** @internal */
  async threadsAtWork(): Promise<Map<string, string>> {
    await this.#batchedWrites.settled();
    return this.#connection.snapshot(() => this.#threads.atWork());
  }

  /** @internal */
  async mailbox(threadId: string): Promise<Mailbox | undefined> {
    await this.#batchedWrites.settled();
    const key = this.#snapshot(threadId, () => this.#threads.key(threadId));
    return key === undefined ? undefined : new Mailbox(this.#records, key);
  }

  async threadsWithMail(): Promise<ReadonlySet<string>> {
    return this.#threads.withMail();
  }

  /** Releases all leases and closes the file. Never throws. The saver cannot be used afterwards. */
  close(): void {
    if (!this.#connection.isOpen) return;
    try {
      this.#batchedWrites.flush();
      this.#leases.releaseAll();
      if (!this.#connection.isReadOnly) this.#connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
    } catch {
      // A lease that remains becomes stale, and a log that remains is read when the file is opened.
    } finally {
      this.#leases.close();
      this.#connection.close();
    }
  }

  /** The number of a thread as a filter: undefined without a thread, and a number that matches none for an unknown one. */
  #keyFilter(threadId: string | undefined): number | undefined {
    return threadId === undefined ? undefined : (this.#threads.key(threadId) ?? -1);
  }

  /**
   * The `seq` of the checkpoint in a `before` config, which may have another namespace and no thread. Undefined for one
   * that is not stored: all checkpoints come before it.
   */
  #seqOf({ configurable = {} }: RunnableConfig, thread: number | undefined): number | undefined {
    const { thread_id: owner, checkpoint_id: id } = configurable;
    if (id === undefined) return undefined;
    const [checkpoint] = this.#checkpoints.rows({ thread: this.#keyFilter(owner) ?? thread, id }, 1);
    return checkpoint?.seq;
  }

  async #write(change: Change, work: (thread: ThreadRow, encoder: Encoder) => void): Promise<void> {
    const write = (): void => {
      const thread = this.#threads.ensure(change.threadId);
      const { key } = thread;
      work(thread, new Encoder({ blobs: this.#blobs, memo: this.#memo, lists: this.#lists, thread: key }));
    };
    await this.#transaction(change, write);
  }

  #decoder(thread: number, options?: DecodeOptions): Decoder {
    const { serde } = this;
    return new Decoder({ blobs: this.#blobs, memo: this.#memo, lists: this.#lists, thread, serde }, options);
  }

  /** Runs a write in a transaction that first checks the thread's lease. */
  #transaction({ threadId, token, isUrgent = true }: Change, work: () => void): Promise<void> {
    return onThread(threadId, () =>
      this.#batchedWrites[isUrgent ? "runNow" : "add"](() => {
        this.#leases.check(threadId, token);
        work();
      }),
    );
  }

  #snapshot<T>(threadId: string | undefined, work: () => T): T {
    return onThread(threadId, () => this.#connection.snapshot(work));
  }

  /**
   * Whether another writer has written after a checkpoint that was the newest when it was read here: to continue from it
   * would drop those changes. A checkpoint that was read by its id is exempt: its reader wants to fork there.
   */
  #isOvertaken(rowKey: CheckpointRowKey): boolean {
    return (
      this.#readCheckpoints.has(rowKey) && this.#checkpoints.latest(rowKey.thread, rowKey.ns) !== rowKey.id
    );
  }
}
