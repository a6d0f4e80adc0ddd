import type { RunnableConfig } from "@langchain/core/runnables";
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type PendingWrite,
} from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import {
  checkpointAsItIs,
  leaseOf,
  readKey,
  Save,
  Seen,
  toConfig,
  toSummary,
  Turns,
  type Place,
} from "../checkpoint/index.ts";
import { asItIs, Encoder, Lists, Memo, type Decoder } from "../codec/index.ts";
import {
  changed,
  naming,
  type AcquireOptions,
  type CheckpointSummary,
  type ListCheckpointsOptions,
  type Release,
  type ThreadStore,
  type ThreadSummary,
} from "../store/index.ts";
import { Blobs } from "./blobs.ts";
import { Checkpoints, type FoundPlace } from "./checkpoints.ts";
import { corrupt, Together, type Connection, type StoredThread } from "./database/index.ts";
import { Heads } from "./latest-checkpoints.ts";
import { Leases } from "./leases.ts";
import { forgetHosted, SqliteLedger } from "./ledger.ts";
import { SqliteMailbox } from "./mailbox.ts";
import { Threads } from "./threads.ts";
import { Tuples } from "./tuples.ts";

const DEFAULT_LIMIT = 100;
const DEFAULT_PAGE = 20;
/** 4 MB. */
const VACUUMED_PAGES = 1000;
/** What is read of a list at a time. */
const LIST_PAGE = 64;

/** A change of a thread. What is not urgent is saved at the end of the turn, with what others save. */
interface Change {
  threadId: string;
  /** Of the run that holds the thread. */
  token?: string | undefined;
  isUrgent?: boolean;
}

/**
 * A LangGraph checkpointer over one SQLite file, with an index of its threads. Each message is stored once per
 * thread, and a list that grows stores only what is new, and takes as long as what is new.
 *
 * A message that is changed in place is saved as it is now while it is one of the last 16 of its list. Older ones are
 * known by being the same objects: to change one of those, put another message in its place.
 *
 * A checkpoint is saved before the call returns, together with what tasks wrote before; the writes alone, and all that
 * runs save that hold their thread, at the end of the turn of the event loop, in one transaction. A write that LangGraph
 * issues first is never missing when a later one is there, whenever the process is killed.
 */
export class SqliteSaver extends BaseCheckpointSaver implements ThreadStore {
  /** @internal What a server knows of threads and runs. */
  readonly ledger: SqliteLedger;
  readonly #connection: Connection;
  readonly #blobs: Blobs;
  readonly #checkpoints: Checkpoints;
  readonly #threads: Threads;
  readonly #leases: Leases;
  readonly #tuples: Tuples;
  readonly #memo = new Memo();
  readonly #lists = new Lists();
  readonly #seen = new Seen();
  readonly #turns = new Turns();
  readonly #together: Together;

  /** The file that threads are kept in. */
  get path(): string {
    return this.#connection.path;
  }

  /** @internal Made by `sqliteSaver`. */
  constructor(connection: Connection) {
    super();
    this.#connection = connection;
    this.#blobs = new Blobs(connection);
    // The blobs of a failed transaction are gone; nothing may refer to them.
    this.#together = new Together(connection, () => {
      this.#memo.clear();
      this.#lists.clear();
      this.#blobs.rollBack();
    });
    this.ledger = new SqliteLedger(connection, this.#together);
    const heads = new Heads(connection);
    this.#checkpoints = new Checkpoints(connection, heads);
    this.#leases = new Leases(connection, this.#together);
    this.#threads = new Threads(connection, heads, this.#leases);
    this.#tuples = new Tuples({
      blobs: this.#blobs,
      memo: this.#memo,
      lists: this.#lists,
      serde: this.serde,
      checkpoints: this.#checkpoints,
      threads: this.#threads,
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
    const token = leaseOf(config);
    const isUrgent = token === undefined;
    const made = isUrgent ? checkpoint : checkpointAsItIs(checkpoint, metadata, newVersions);
    await this.#write({ threadId, token, isUrgent }, (thread, encoder) => {
      const place = { thread: thread.key, ns, id };
      const isOvertaken = metadata.source !== "fork" && this.#isOvertaken({ ...place, id: parent });
      if (isOvertaken && !this.#checkpoints.get(place)) throw changed(threadId);
      const seq = this.#checkpoints.put(place, { parent, checkpoint: made, metadata, newVersions }, encoder);
      if (ns === "") this.#threads.note(thread, seq, made);
      this.#seen.add(place);
    });
    return toConfig({ threadId, ns, id });
  }

  override putWrites(config: RunnableConfig, writes: PendingWrite[], taskId: string): Promise<void> {
    return Save.of(() => {
      const { threadId, ns, id } = readKey(config);
      if (id === "") {
        throw new HarnessError("invalid-request", "The checkpoint that the writes belong to is not named.");
      }
      const made = writes.map(([channel, value]): PendingWrite => [channel, asItIs(value)]);
      // LangGraph waits for a checkpoint before it goes on, and for this it does not.
      return this.#write({ threadId, token: leaseOf(config), isUrgent: false }, (thread, encoder) => {
        const place = { thread: thread.key, ns, id };
        if (this.#isOvertaken(place)) throw changed(threadId);
        this.#checkpoints.putWrites(place, taskId, made, encoder);
        if (ns === "") this.#threads.noteWrites(thread, id, made);
      });
    });
  }

  override async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    if (config.configurable?.["thread_id"] === undefined) return undefined;
    const { threadId, ns, id: asked } = readKey(config);
    await this.#together.settled();
    const tuple = await this.#look(threadId, () => {
      const thread = this.#threads.key(threadId);
      const id = asked || (thread !== undefined && this.#checkpoints.latest(thread, ns));
      if (thread === undefined || !id) return Promise.resolve(undefined);
      const place = { thread, ns, id };
      if (asked) this.#seen.delete(place);
      else this.#seen.add(place);
      return this.#tuples.read(threadId, place);
    });
    await this.#turns.pass();
    return tuple;
  }

  /**
   * Newest first. A long list of messages is read when it is first looked at, so a page costs what its checkpoints
   * cost, however long the thread is; up to 64 checkpoints have their messages in common. `listCheckpoints` gives the
   * same without any values.
   */
  override async *list(
    config: RunnableConfig,
    { limit = Infinity, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } = config.configurable ?? {};
    await this.#together.settled();
    const thread = this.#look(threadId, () => {
      const key = this.#match(threadId);
      if (key !== undefined) this.#checkpoints.checkCount(key, ns);
      return key;
    });
    let left = limit;
    let seq = before && this.#seqOf(before, thread);
    while (left > 0) {
      const page = this.#look(threadId, () =>
        this.#checkpoints.places({ thread, ns, id, before: seq }, Math.min(left, LIST_PAGE)),
      );
      if (page.length === 0) return;
      seq = page.at(-1)!.seq;
      for await (const tuple of this.#listed(page, filter)) {
        left -= 1;
        yield tuple;
      }
    }
  }

  /** A page of checkpoints has its messages in common, and its long lists are read when they are looked at. */
  async *#listed(
    page: readonly FoundPlace[],
    filter: Record<string, unknown>,
  ): AsyncGenerator<CheckpointTuple> {
    let decoder: Decoder | undefined;
    for (const { threadId: owner, ...place } of page) {
      if (!(await this.#look(owner, () => this.#tuples.matches(place, filter)))) continue;
      this.#seen.delete(place);
      if (decoder?.thread !== place.thread) decoder = this.#tuples.decoder(place.thread, { isLazy: true });
      const tuple = await this.#look(owner, () => this.#tuples.read(owner, place, decoder));
      if (tuple) yield tuple;
      else this.#look(owner, () => this.#expectDeleted(owner, place));
    }
  }

  /** Deletes a thread with everything stored for it. Throws `thread-busy` when another process works on it. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#guarded({ threadId }, () => {
      this.#threads.remove(threadId);
      forgetHosted(this.#connection, threadId);
    });
    // Page by page, for what a long thread leaves takes a while to give back.
    for (let left = Infinity, before; left > 0 && left !== before; before = left) {
      await new Promise(setImmediate);
      if (!this.#connection.isOpen) return;
      this.#connection.all(`PRAGMA store.incremental_vacuum(${VACUUMED_PAGES})`);
      left = this.#connection.get("PRAGMA store.freelist_count")?.["freelist_count"] as number;
    }
  }

  /** The threads, last used first; at most 100 unless `limit` says otherwise. */
  async listThreads({ limit = DEFAULT_LIMIT }: { limit?: number } = {}): Promise<ThreadSummary[]> {
    await this.#together.settled();
    return this.#connection.snapshot(() => this.#threads.list(limit));
  }

  /**
   * Tells the index how far a thread's plan is. It learns that from checkpoints by itself; a run that stops in the
   * middle of a step has finished more than its newest checkpoint says. Throws `thread-busy` when another process
   * works on it.
   */
  async noteProgress(threadId: string, todos: ThreadSummary["todos"]): Promise<void> {
    await this.#guarded({ threadId, isUrgent: false }, () => this.#threads.progress(threadId, todos));
  }

  /** @internal Brings what the index says of a thread up to date with its newest checkpoint. */
  async noteNewest(threadId: string): Promise<void> {
    const tuple = await this.getTuple(toConfig({ threadId, ns: "", id: "" }));
    await this.#guarded({ threadId }, () => {
      const thread = this.#threads.find(threadId);
      if (tuple && thread) this.#threads.note(thread, thread.seq, tuple.checkpoint);
    });
  }

  async getThread(threadId: string): Promise<ThreadSummary | undefined> {
    await this.#together.settled();
    return this.#look(threadId, () => this.#threads.get(threadId));
  }

  /** Some channels of a thread's newest checkpoint, without reading the others; a thread may lack any of them. */
  async getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>> {
    await this.#together.settled();
    const newest = this.#newest(threadId);
    if (!newest) return {};
    const found = channels.filter((name) => Object.hasOwn(newest.channels, name));
    const decoder = this.#tuples.decoder(newest.thread);
    await decoder.load(found.map((name) => newest.channels[name]));
    const values = {};
    for (const name of found) decoder.set(values, name, newest.channels[name]);
    return values;
  }

  /**
   * The last items of a list in a channel of a thread's newest checkpoint, oldest first, without reading the rest of
   * it: `getLast(thread, "messages")` is the last message. Empty where there is no such list.
   */
  async getLast(threadId: string, channel: string, count = 1): Promise<unknown[]> {
    await this.#together.settled();
    const newest = this.#newest(threadId);
    if (!newest || !Object.hasOwn(newest.channels, channel)) return [];
    const decoder = this.#tuples.decoder(newest.thread);
    const trees = await decoder.lastOf(newest.channels[channel], count);
    await decoder.load(trees);
    return trees.map((tree) => decoder.build(tree));
  }

  #newest(threadId: string): { thread: number; channels: Record<string, unknown> } | undefined {
    return this.#look(threadId, () => {
      const thread = this.#threads.key(threadId);
      const id = thread === undefined ? undefined : this.#checkpoints.latest(thread, "");
      if (thread === undefined || id === undefined) return undefined;
      const stored = this.#checkpoints.get({ thread, ns: "", id });
      return stored && { thread, channels: stored.channels };
    });
  }

  /**
   * What a thread has been through, newest first, without any of its values: as cheap in a long thread as in a short
   * one. `before` is the `seq` of the last one of the page before. At most 20 unless `limit` says otherwise, and those
   * of the main graph unless `ns` names another.
   */
  async listCheckpoints(
    threadId: string,
    options: ListCheckpointsOptions = {},
  ): Promise<CheckpointSummary[]> {
    const { ns = "", before, limit = DEFAULT_PAGE } = options;
    await this.#together.settled();
    const thread = this.#threads.key(threadId);
    if (thread === undefined) return [];
    const rows = this.#look(threadId, () => this.#checkpoints.rows({ thread, ns, before }, limit));
    const decoder = this.#tuples.decoder(thread);
    const summaries = rows.map((row) => toSummary(row));
    await decoder.load(summaries.map(({ metadata }) => metadata));
    return summaries.map((summary) => ({
      ...summary,
      metadata: decoder.build(summary.metadata) as CheckpointMetadata,
    }));
  }

  /**
   * Takes a thread for this process and returns the function that gives it back. While it is held, nobody else can
   * write to it. Throws `thread-busy`, which says who holds it; a holder that died is replaced.
   */
  acquireThread(threadId: string, options?: AcquireOptions): Promise<Release> {
    return this.#leases.acquire(threadId, options);
  }

  /** @internal The threads that some process works on, each with a mark that changes with all that is saved of it. */
  async threadsAtWork(): Promise<Map<string, string>> {
    await this.#together.settled();
    return this.#connection.snapshot(() => this.#threads.atWork());
  }

  /** @internal What other processes ask the holder of a thread for; undefined for a thread that is not there. */
  async mailbox(threadId: string): Promise<SqliteMailbox | undefined> {
    await this.#together.settled();
    const key = this.#threads.key(threadId);
    return key === undefined ? undefined : new SqliteMailbox(this.#connection, key);
  }

  async threadsWithMail(): Promise<ReadonlySet<string>> {
    return SqliteMailbox.threads(this.#connection);
  }

  /** Gives all threads back and closes the file; never throws. The saver cannot be used afterwards. */
  close(): void {
    if (!this.#connection.isOpen) return;
    try {
      this.#together.flush();
      this.#leases.releaseAll();
      if (!this.#connection.isReadOnly) this.#connection.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
    } catch {
      // A lease that stays is one of a process that ends, and a log that stays is read when the file is opened.
    } finally {
      this.#leases.close();
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
    const [found] = this.#checkpoints.places({ thread: this.#match(owner) ?? thread, id }, 1);
    return found?.seq;
  }

  async #write(change: Change, work: (thread: StoredThread, encoder: Encoder) => void): Promise<void> {
    const write = (): void => {
      const thread = this.#threads.ensure(change.threadId);
      const { key } = thread;
      work(thread, new Encoder({ blobs: this.#blobs, memo: this.#memo, lists: this.#lists, thread: key }));
    };
    await this.#guarded(change, write);
  }

  /** A checkpoint that was listed is there, unless its thread has been deleted since. */
  #expectDeleted(threadId: string, { thread, id }: Place): void {
    if (this.#threads.key(threadId) !== thread) return;
    throw corrupt(this.#connection.path, `checkpoint ${id} is missing`);
  }

  /** Every change of a thread: a transaction in which it is certain that nobody else has the thread. */
  #guarded({ threadId, token, isUrgent = true }: Change, work: () => void): Promise<void> {
    return naming(threadId, () =>
      this.#together[isUrgent ? "now" : "save"](() => {
        this.#leases.check(threadId, token);
        work();
      }),
    );
  }

  /** Every look at a thread: all of one moment. */
  #look<T>(threadId: string | undefined, work: () => T): T {
    return naming(threadId, () => this.#connection.snapshot(work));
  }

  /**
   * Whether somebody else has gone on from a checkpoint that was the newest when it was read from here: to go on from
   * it too would leave out what they did. Who names a checkpoint means to leave the thread there.
   */
  #isOvertaken(place: Place): boolean {
    return this.#seen.has(place) && this.#checkpoints.latest(place.thread, place.ns) !== place.id;
  }
}
