import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  maxChannelVersion,
  TASKS,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../errors.ts";
import { Blobs } from "./blobs.ts";
import { Checkpoints, type Place, type StoredCheckpoint } from "./checkpoints.ts";
import type { Connection } from "./connection.ts";
import { decodeAll } from "./decode.ts";
import { Encoder } from "./encode.ts";
import { readKey, toConfig } from "./keys.ts";
import { Leases, type AcquireOptions } from "./leases.ts";
import { Memo } from "./memo.ts";
import { checkPages } from "./open.ts";
import { Threads, type ThreadSummary } from "./threads.ts";

const DEFAULT_LIMIT = 100;

/**
 * A LangGraph checkpointer over one SQLite file, with an index of its threads. Each message is stored once per
 * thread, and a list that grows stores only what is new.
 *
 * Each call is one transaction, made before the call returns: a write that LangGraph issues first is never missing
 * when a later one is there, whenever the process is killed.
 */
export class SqliteSaver extends BaseCheckpointSaver {
  readonly #connection: Connection;
  readonly #blobs: Blobs;
  readonly #checkpoints: Checkpoints;
  readonly #threads: Threads;
  readonly #leases: Leases;
  readonly #memo = new Memo();

  /** @internal Made by `sqliteSaver`. */
  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    this.#blobs = new Blobs(connection);
    this.#checkpoints = new Checkpoints(connection);
    this.#threads = new Threads(connection);
    this.#leases = new Leases(connection);
  }

  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<ReturnType<typeof toConfig>> {
    const { threadId, ns, id: parent } = readKey(config);
    const { id } = checkpoint;
    this.#write(threadId, (thread, encoder) => {
      this.#checkpoints.put({ thread, ns, id }, { parent, checkpoint, metadata, newVersions }, encoder);
      if (ns === "") this.#threads.note(thread, checkpoint);
    });
    return toConfig({ threadId, ns, id });
  }

  override async putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    const { threadId, ns, id } = readKey(config);
    if (id === "") {
      throw new HarnessError("invalid-request", "The checkpoint that the writes belong to is not named.");
    }
    this.#write(threadId, (thread, encoder) => {
      this.#checkpoints.putWrites({ thread, ns, id }, taskId, writes, encoder);
    });
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { threadId, ns, id: asked } = readKey(config);
    const thread = this.#threads.key(threadId);
    const id = asked || (thread !== undefined && this.#checkpoints.latest(thread, ns));
    if (thread === undefined || !id) return undefined;
    const place = { thread, ns, id };
    const stored = this.#checkpoints.get(place);
    return stored && this.#read(threadId, place, stored);
  }

  override async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    const thread = this.#match(threadId);
    const match = { thread, ns, id, before: before && this.#seqOf(before, thread) };
    let left = limit;
    for (const { threadId: owner, ...place } of this.#checkpoints.places(match)) {
      if (left <= 0) return;
      const stored = this.#checkpoints.get(place);
      // Deleted since the list was made.
      if (!stored || !(await this.#matches(place.thread, stored, filter))) continue;
      left -= 1;
      yield await this.#read(owner, place, stored);
    }
  }

  /** Deletes a thread with everything stored for it. Throws `thread-busy` when another process works on it. */
  override async deleteThread(threadId: string): Promise<void> {
    this.#connection.transaction(() => {
      this.#leases.check(threadId);
      this.#threads.remove(threadId);
    });
    this.#connection.all("PRAGMA incremental_vacuum");
  }

  /** The threads, last used first; at most 100 unless `limit` says otherwise. */
  async listThreads({ limit = DEFAULT_LIMIT }: { limit?: number } = {}): Promise<ThreadSummary[]> {
    return this.#threads.list(limit);
  }

  /**
   * Tells the index how far a thread's plan is. It learns that from checkpoints by itself; a run that stops in the
   * middle of a step has finished more than its newest checkpoint says.
   */
  async noteProgress(threadId: string, todos: ThreadSummary["todos"]): Promise<void> {
    this.#threads.progress(threadId, todos);
  }

  async getThread(threadId: string): Promise<ThreadSummary | undefined> {
    return this.#threads.get(threadId);
  }

  /** Some channels of a thread's newest checkpoint, without reading the others; a thread may lack any of them. */
  async getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    const thread = this.#threads.key(threadId);
    if (thread === undefined) return {};
    const id = this.#checkpoints.latest(thread, "");
    const stored = id === undefined ? undefined : this.#checkpoints.get({ thread, ns: "", id });
    if (!stored) return {};
    const found = channels.filter((name) => Object.hasOwn(stored.channels, name));
    const values = await this.#decode(
      thread,
      found.map((name) => stored.channels[name]),
    );
    return Object.fromEntries(found.map((name, at) => [name, values[at]]));
  }

  /**
   * Takes a thread for this process and returns the function that gives it back. While it is held, nobody else can
   * write to it. Throws `thread-busy`, which says who holds it; a holder that died is replaced.
   */
  acquireThread(threadId: string, options?: AcquireOptions): Promise<() => Promise<void>> {
    return this.#leases.acquire(threadId, options);
  }

  /** Reads the whole file, however large. Throws `storage-corrupt` when a page of it is damaged. */
  async check(): Promise<void> {
    checkPages(this.#connection);
  }

  /** Gives all threads back and closes the file; never throws. The saver cannot be used afterwards. */
  close(): void {
    if (!this.#connection.isOpen) return;
    try {
      this.#leases.releaseAll();
      this.#connection.all("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // A lease that stays is one of a process that ends, and a log that stays is read when the file is opened.
    } finally {
      this.#connection.close();
    }
  }

  /** The number to look for in the tables: none where no thread is named, and one that is not there for an unknown one. */
  #match(threadId: string | undefined): number | undefined {
    return threadId === undefined ? undefined : (this.#threads.key(threadId) ?? -1);
  }

  /**
   * LangGraph asks for what is before a checkpoint of another namespace, and names no thread then. A checkpoint that
   * is not stored has no place in the order: it is still to come.
   */
  #seqOf({ configurable = {} }: RunnableConfig, thread: number | undefined): number | undefined {
    const { thread_id: owner, checkpoint_id: id } = configurable;
    if (id === undefined) return undefined;
    const [found] = this.#checkpoints.places({ thread: this.#match(owner) ?? thread, id });
    return found?.seq;
  }

  #write(threadId: string, work: (thread: number, encoder: Encoder) => void): void {
    try {
      this.#connection.transaction(() => {
        this.#leases.check(threadId);
        const thread = this.#threads.ensure(threadId);
        work(thread, new Encoder({ blobs: this.#blobs, memo: this.#memo, thread }));
      });
    } catch (error) {
      // The blobs of the failed transaction are gone; nothing may refer to them.
      this.#memo.clear();
      this.#blobs.forget();
      throw error;
    }
  }

  async #read(threadId: string, place: Place, stored: StoredCheckpoint): Promise<CheckpointTuple> {
    const { head, channels, parent } = stored;
    const names = Object.keys(channels);
    const writes = this.#checkpoints.writes(place);
    const sends = head.v < 4 && parent !== null ? this.#sendsOf({ ...place, id: parent }) : undefined;
    const values = await this.#decode(place.thread, [
      stored.metadata,
      ...names.map((name) => channels[name]),
      ...writes.map(({ value }) => value),
      ...(sends ?? []),
    ]);
    const [metadata, ...rest] = values;
    const channelValues = Object.fromEntries(names.map((name, at) => [name, rest[at]]));
    const checkpoint: Checkpoint = { ...head, id: place.id, channel_values: channelValues };
    if (sends) this.#migrateSends(checkpoint, rest.slice(names.length + writes.length));
    const { ns } = place;
    return {
      config: toConfig({ threadId, ns, id: place.id }),
      checkpoint,
      metadata: metadata as CheckpointMetadata,
      pendingWrites: writes.map(({ task, channel }, at): CheckpointPendingWrite => [
        task,
        channel,
        rest[names.length + at],
      ]),
      ...(parent !== null && { parentConfig: toConfig({ threadId, ns, id: parent }) }),
    };
  }

  /** Checkpoints older than format 4 have their sends in the writes of their parent. */
  #sendsOf(place: Place): unknown[] {
    return this.#checkpoints
      .writes(place)
      .filter(({ channel }) => channel === TASKS)
      .map(({ value }) => value);
  }

  #migrateSends(checkpoint: Checkpoint, sends: unknown[]): void {
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_values[TASKS] = sends;
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.getNextVersion(undefined);
  }

  async #matches(
    thread: number,
    { metadata }: StoredCheckpoint,
    filter: Record<string, unknown>,
  ): Promise<boolean> {
    const entries = Object.entries(filter);
    if (entries.length === 0) return true;
    const [found] = (await this.#decode(thread, [metadata])) as [Record<string, unknown>];
    return entries.every(([key, value]) => found[key] === value);
  }

  #decode(thread: number, trees: readonly unknown[]): Promise<unknown[]> {
    return decodeAll(trees, { blobs: this.#blobs, memo: this.#memo, thread, serde: this.serde });
  }
}
