import { BlobCache } from "../../codec/index.ts";
import { threadBusy, threadChanged } from "../../store/index.ts";
import { isUnreachable, type Database } from "../database/index.ts";
import { isAlive, type Leases } from "../leases.ts";
import { Batch, type Change } from "./batch.ts";
import type { HashedBlob, SharedBlobCache } from "./blobs.ts";
import { Statements } from "./statements.ts";
import { loadThreadCache, type ThreadCache } from "./thread-cache.ts";

/** A write to a thread, which is encoded with the thread's cache. */
export interface ThreadWrite {
  threadId: string;
  /** The lease that it is made under, if the config names one. */
  token: string | undefined;
  /** A write that is not urgent is sent at the end of the turn of the event loop, or with the next urgent one. */
  isUrgent: boolean;
  /** Whether the cache has everything to encode it; otherwise `prepare` loads it. Default: true. */
  isReady?: (cache: ThreadCache) => boolean;
  prepare?: (cache: ThreadCache) => Promise<void>;
  /** Encodes the write and advances the cache. May throw. Returns undefined if there is nothing to save. */
  encode: (cache: ThreadCache) => Change | undefined;
  /** Called when the encoded write was not saved, and is encoded again. */
  onDiscard?: (cache: ThreadCache) => void;
  onExisting?: (seq: number) => void;
}

interface Entry {
  write: ThreadWrite;
  /** The batch that it is in; undefined while it is not encoded. */
  batch?: Batch;
  /** Whether it is sent alone, because it was in a batch that failed. */
  isAlone: boolean;
  tries: number;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/** The writes to a thread, in the order of the calls. */
interface Queue {
  cache: ThreadCache | undefined;
  /** The writes that have not been sent. */
  entries: Entry[];
  /** The number of writes that are neither saved nor failed. */
  open: number;
  /** Resolves when the last one is saved or has failed. */
  last: Promise<unknown>;
  isSending: boolean;
  /** Sends the queue now, without waiting for the end of the turn. */
  wake: () => void;
}

const MAX_QUEUES = 256;
const MAX_TRIES = 20;

/**
 * A queue of writes for each thread, which are sent one statement after the other. An urgent write is encoded when it is
 * queued, if the thread's cache is loaded, because values may change afterwards. After another process has written to the
 * thread, all queued writes are encoded again.
 *
 * LangGraph awaits a checkpoint before it saves the next one, but not the writes of tasks: so these are one statement
 * with the next checkpoint. They are also encoded with it: a message that gets its id when it is merged into the state is
 * then stored once.
 */
export class WriteQueues {
  readonly #database: Database;
  readonly #leases: Leases;
  readonly #statements: Statements;
  readonly #queues = new Map<string, Queue>();
  readonly blobCache: SharedBlobCache = new BlobCache<string, HashedBlob>();

  constructor(database: Database, leases: Leases) {
    this.#database = database;
    this.#leases = leases;
    this.#statements = new Statements(database.schema);
  }

  /** Resolves when all queued writes, of one thread or of all, are saved or have failed. */
  async settled(threadId?: string): Promise<void> {
    if (threadId !== undefined) await this.#queues.get(threadId)?.last;
    else await Promise.all([...this.#queues.values()].map(({ last }) => last));
  }

  /** The cache of a thread at a revision; an older cache is replaced. */
  async cacheAt(threadId: string, revision: number): Promise<ThreadCache> {
    const queue = this.#queueOf(threadId);
    if (queue.cache && (queue.open > 0 || queue.cache.revision === revision)) return queue.cache;
    const cache = await loadThreadCache(threadId, this.#database, this.blobCache);
    // A write may have been queued meanwhile.
    if (queue.open === 0) queue.cache = cache;
    return cache;
  }

  /** Drops the cache of a deleted thread. */
  forget(threadId: string): void {
    const queue = this.#queues.get(threadId);
    if (queue) queue.cache = undefined;
  }

  async write(write: ThreadWrite): Promise<void> {
    const queue = this.#queueOf(write.threadId);
    const result = new Promise<void>((resolve, reject) => {
      queue.entries.push({ write, isAlone: false, tries: 0, resolve, reject });
    });
    queue.open += 1;
    queue.last = result.catch(() => {});
    if (write.isUrgent) {
      if (queue.cache) this.#encodeReady(queue, queue.cache);
      queue.wake();
    }
    if (!queue.isSending) void this.#sendAll(queue);
    await result;
  }

  async #sendAll(queue: Queue): Promise<void> {
    queue.isSending = true;
    while (queue.entries.length > 0) {
      if (!queue.entries.some(({ write }) => write.isUrgent)) await endOfTurn(queue);
      await this.#sendNext(queue);
    }
    queue.isSending = false;
  }

  async #sendNext(queue: Queue): Promise<void> {
    const first = queue.entries[0]!;
    if (!first.batch || first.batch.cache !== queue.cache) await this.#encodeWaiting(queue);
    const { batch } = first;
    // The write has ended, or a later one has failed and all are encoded again.
    if (!batch || batch.cache !== queue.cache) return;
    const sent = queue.entries.filter((entry) => entry.batch === batch);
    queue.entries.splice(0, sent.length);
    try {
      if (await this.#isSaved(sent, batch)) for (const entry of sent) end(queue, entry);
      else this.#requeue(queue, sent, batch);
    } catch (error) {
      // One of several writes may have caused the error, unless the server cannot be reached.
      if (sent.length > 1 && !isUnreachable(error)) return this.#requeue(queue, sent, batch);
      discardCache(queue, batch);
      for (const entry of sent) end(queue, entry, error);
    }
  }

  /** Puts the writes of a failed batch back to the front of the queue; several are then sent one by one. */
  #requeue(queue: Queue, sent: readonly Entry[], batch: Batch): void {
    discardCache(queue, batch);
    const left: Entry[] = [];
    for (const entry of sent) {
      entry.tries += 1;
      entry.isAlone ||= sent.length > 1;
      if (entry.tries < MAX_TRIES) left.push(entry);
      else end(queue, entry, threadChanged(entry.write.threadId));
    }
    queue.entries.unshift(...left);
  }

  /** Encodes the queued writes; loads what the first one needs. */
  async #encodeWaiting(queue: Queue): Promise<void> {
    const first = queue.entries[0]!;
    const { write } = first;
    try {
      const cache = queue.cache ?? (await loadThreadCache(write.threadId, this.#database, this.blobCache));
      if (!isReady(write, cache)) await write.prepare?.(cache);
      this.#encodeReady(queue, cache);
    } catch (error) {
      // An urgent write may have encoded it in the meantime.
      if (queue.entries[0] !== first || (first.batch && first.batch.cache === queue.cache)) return;
      queue.entries.shift();
      end(queue, first, error);
    }
  }

  /** Encodes the queued writes up to the first that is not ready. One that fails is removed. */
  #encodeReady(queue: Queue, cache: ThreadCache): void {
    for (const entry of queue.entries) {
      if (!entry.batch || entry.batch.cache === cache) continue;
      entry.write.onDiscard?.(entry.batch.cache);
      entry.batch = undefined;
    }
    for (let at = 0; at < queue.entries.length;) {
      const entry = queue.entries[at]!;
      if (!entry.batch && !isReady(entry.write, cache)) return;
      try {
        if (!entry.batch) this.#encode(entry, { queue, cache, before: queue.entries[at - 1] });
        if (entry.batch) at += 1;
        else end(queue, queue.entries.splice(at, 1)[0]!);
      } catch (error) {
        queue.entries.splice(at, 1);
        return end(queue, entry, error);
      }
    }
  }

  /** Adds a write to a batch; one without a change gets none. */
  #encode(
    entry: Entry,
    { queue, cache, before }: { queue: Queue; cache: ThreadCache; before: Entry | undefined },
  ): void {
    const { write, isAlone } = entry;
    try {
      const change = write.encode(cache);
      queue.cache = cache;
      if (!change) return;
      const token = write.token ?? this.#leases.tokenOf(write.threadId);
      const isJoined = !isAlone && !before?.isAlone && before?.batch?.isOpen(cache, token);
      entry.batch = isJoined ? before!.batch! : new Batch(cache, token);
      entry.batch.add(change);
    } catch (error) {
      // The cache has blobs that will not be written.
      queue.cache = undefined;
      throw error;
    }
  }

  /** Sends a batch, and returns whether it was saved. Throws `thread-busy`. */
  async #isSaved(sent: readonly Entry[], batch: Batch): Promise<boolean> {
    const [outcome] = await this.#database.query(this.#statements.of(batch));
    if (outcome?.["saves"] === 1 || (await this.#isApplied(batch))) {
      batch.cache.blobs.keep(batch.cache.key, batch.newBlobs);
      return true;
    }
    // A checkpoint is the last of its batch.
    const { threadId, token, onExisting } = sent.at(-1)!.write;
    if (typeof outcome?.["existing_seq"] === "number") onExisting?.(outcome["existing_seq"]);
    // Several are first sent one by one, to find those without the lease.
    else if (outcome?.["leases"] === 0 && sent.length === 1) await this.#clearDeadLease(threadId, token);
    return false;
  }

  /** Whether a batch was saved by an earlier try whose answer was lost. */
  async #isApplied({ cache, revision }: Batch): Promise<boolean> {
    const rows = await this.#database.query(
      `SELECT 1 FROM ${this.#database.schema}.threads WHERE key = $1 AND revision = $2 AND writer = $3`,
      [cache.key, revision + 1, cache.writer],
    );
    return rows.length > 0;
  }

  /** Removes the lease of a dead holder, so that the write can be tried again; throws `thread-busy` otherwise. */
  async #clearDeadLease(threadId: string, token: string | undefined): Promise<void> {
    const lease = await this.#leases.find(threadId);
    const isHeldHere = token !== undefined || this.#leases.tokenOf(threadId) !== undefined;
    if (isHeldHere || (lease && isAlive(lease))) throw threadBusy(threadId, lease);
    await this.#leases.clear(threadId, lease);
  }

  #queueOf(threadId: string): Queue {
    const existing = this.#queues.get(threadId);
    const queue = existing ?? newQueue();
    // Least recently used first.
    this.#queues.delete(threadId);
    this.#queues.set(threadId, queue);
    if (!existing && this.#queues.size > MAX_QUEUES) this.#dropOldest();
    return queue;
  }

  #dropOldest(): void {
    for (const [threadId, { open }] of this.#queues) {
      if (open > 0) continue;
      this.#queues.delete(threadId);
      return;
    }
  }
}

function newQueue(): Queue {
  const last = Promise.resolve();
  return { cache: undefined, entries: [], open: 0, last, isSending: false, wake: () => {} };
}

function isReady({ isReady: check }: ThreadWrite, cache: ThreadCache): boolean {
  return check?.(cache) !== false;
}

/** Resolves at the end of the turn of the event loop, or when an urgent write is queued. */
function endOfTurn(queue: Queue): Promise<void> {
  return new Promise((resolve) => {
    queue.wake = resolve;
    setImmediate(resolve);
  });
}

/** Drops a cache that has the changes of a batch which was not saved. */
function discardCache(queue: Queue, { cache }: Batch): void {
  if (queue.cache === cache) queue.cache = undefined;
}

function end(queue: Queue, entry: Entry, error?: unknown): void {
  queue.open -= 1;
  if (error === undefined) entry.resolve();
  else entry.reject(error);
}
