import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  BEAT_MS,
  isProcessGone,
  threadBusy,
  type AcquireOptions,
  type Heartbeat,
  type Release,
} from "../store/index.ts";
import { fileHeartbeat, LEASES, type BatchedWrites, type Connection, type Lease } from "./database/index.ts";

/** The age at which a heartbeat is stale: its holder sleeps, hangs, or is dead and its pid belongs to another process. */
const STALE_MS = 30_000;
/** The time, by the monotonic clock, that a stale lease is watched for a heartbeat before it is taken over. */
const WATCH_MS = 3.5 * BEAT_MS;
const RETRY_MS = 50;
/** The tokens that this process holds: it never takes itself for a dead process, even after a change of the clock. */
const localTokens = new Set<string>();

/** The leases of threads: each is held by one process at a time, and taken over when the holder is dead. */
export class Leases {
  readonly #connection: Connection;
  readonly #batchedWrites: BatchedWrites;
  readonly #tokens = new Map<string, string>();
  readonly #heartbeat: Heartbeat | undefined;

  constructor(connection: Connection, batchedWrites: BatchedWrites) {
    this.#connection = connection;
    this.#batchedWrites = batchedWrites;
    this.#heartbeat = connection.isShared ? fileHeartbeat(connection.path) : undefined;
  }

  /**
   * Takes a lease. Throws `thread-busy` when another holder is alive, at once or after `wait`. A stale lease is watched
   * for some seconds first.
   */
  async acquire(threadId: string, { wait = 0, force = false }: AcquireOptions = {}): Promise<Release> {
    const token = randomUUID();
    const deadline = performance.now() + wait;
    let watch: { lease: Lease; since: number } | undefined;
    for (;;) {
      const now = performance.now();
      const isSilent = watch !== undefined && now - watch.since > WATCH_MS;
      const other = await this.#take(threadId, token, {
        silent: isSilent ? watch?.lease : undefined,
        force,
      });
      if (!other) return Object.assign(() => this.#release(threadId, token), { token });
      const isSame = watch?.lease.holder === other.holder && watch.lease.beat === other.beat;
      watch = isSame ? watch : { lease: other, since: now };
      if (isAlive(other) && now >= deadline) throw threadBusy(threadId, other);
      await sleep(RETRY_MS);
    }
  }

  /**
   * Throws `thread-busy` unless this process may write to the thread: no other process holds it, and a lease that this
   * process took is still its own. `token` is the lease of the run that writes. Call inside the transaction that writes.
   */
  check(threadId: string, token = this.#tokens.get(threadId)): void {
    const lease = this.find(threadId);
    if (token === undefined ? lease && isAlive(lease) : lease?.holder !== token)
      throw threadBusy(threadId, lease);
  }

  find(threadId: string): Lease | undefined {
    return LEASES.get(this.#connection, "WHERE thread = ?", [threadId]);
  }

  heldThreads(): string[] {
    return LEASES.all(this.#connection, "", []).flatMap((lease) => (isAlive(lease) ? [lease.thread] : []));
  }

  releaseAll(): void {
    for (const [threadId, token] of this.#tokens) {
      this.#delete(threadId, token);
      localTokens.delete(token);
    }
    this.#tokens.clear();
  }

  /** Stops the heartbeat; leases that are still held become stale. */
  close(): void {
    this.#heartbeat?.stop();
  }

  /** Returns the lease of another holder, if any. `silent` is a lease that was watched without a heartbeat. */
  async #take(
    threadId: string,
    token: string,
    { silent, force }: { silent: Lease | undefined; force: boolean },
  ): Promise<Lease | undefined> {
    const take = (): Lease | undefined => {
      const lease = this.find(threadId);
      const isSilent = lease?.holder === silent?.holder && lease?.beat === silent?.beat;
      if (lease && !isDead(lease) && !isSilent && !force) return lease;
      const now = Date.now();
      const mine = { thread: threadId, holder: token, pid: process.pid, host: hostname() };
      LEASES.put(this.#connection, { ...mine, since: now, beat: now });
      // Recorded at once: the store may be closed before the write resolves.
      this.#tokens.set(threadId, token);
      localTokens.add(token);
      return undefined;
    };
    try {
      const other = await this.#batchedWrites.add(take);
      // The batch may be run twice, and another process may have taken the lease in between.
      if (other) this.#forget(threadId, token);
      else if (this.#connection.isOpen) this.#heartbeat?.add(token);
      return other;
    } catch (error) {
      this.#forget(threadId, token);
      throw error;
    }
  }

  async #release(threadId: string, token: string): Promise<void> {
    if (this.#tokens.get(threadId) !== token) return;
    try {
      await this.#batchedWrites.add(() => {
        this.#delete(threadId, token);
        // Removed in the same transaction: later writes are no longer under this lease.
        if (this.#tokens.get(threadId) === token) this.#tokens.delete(threadId);
      });
    } catch (error) {
      if (!this.#tokens.has(threadId)) this.#tokens.set(threadId, token);
      throw error;
    }
    localTokens.delete(token);
    this.#heartbeat?.remove(token);
  }

  #delete(threadId: string, token: string): void {
    this.#connection.run("DELETE FROM leases WHERE thread = ? AND holder = ?", [threadId, token]);
  }

  #forget(threadId: string, token: string): void {
    if (this.#tokens.get(threadId) === token) this.#tokens.delete(threadId);
    localTokens.delete(token);
  }
}

/** Whether a holder seems to be alive. Clocks can be set, so only `acquire` acts on a stale heartbeat, after watching it. */
export function isAlive(lease: Lease): boolean {
  return Math.abs(Date.now() - lease.beat) <= STALE_MS && !isDead(lease);
}

/** Whether the holder's process has certainly ended. */
function isDead({ holder, pid, host, since }: Lease): boolean {
  return host === hostname() && isProcessGone({ pid, since, isLocal: localTokens.has(holder) });
}
