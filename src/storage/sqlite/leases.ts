import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { BEAT_MS, busy, isProcessGone, type AcquireOptions, type Release } from "../store/index.ts";
import { Heart, LEASES, type Connection, type Lease, type Together } from "./database/index.ts";

/** A holder that has not been heard of for this long may be dead: it slept, hung, or its number was reused. */
const STALE_MS = 30_000;
/** So long it is listened to, by a clock that nobody can set, before that is believed. */
const LISTEN_MS = 3.5 * BEAT_MS;
const RETRY_MS = 50;
/** The tokens that are held from here, whatever has been done to the clock since. */
const ours = new Set<string>();

/** Who works on which thread. Held by one process at a time, and taken over when the holder is dead. */
export class Leases {
  readonly #connection: Connection;
  readonly #together: Together;
  readonly #held = new Map<string, string>();
  readonly #heart: Heart | undefined;

  constructor(connection: Connection, together: Together) {
    this.#connection = connection;
    this.#together = together;
    this.#heart = connection.isShared ? new Heart(connection.path) : undefined;
  }

  /**
   * Takes a thread. Throws `thread-busy` when another holder is alive, at once or after `wait`. One that is silent is
   * listened to for some seconds first.
   */
  async acquire(threadId: string, { wait = 0, force = false }: AcquireOptions = {}): Promise<Release> {
    const token = this.#heart?.holder() ?? randomUUID();
    const deadline = performance.now() + wait;
    let heard: { lease: Lease; at: number } | undefined;
    for (;;) {
      const now = performance.now();
      const isSilent = heard !== undefined && now - heard.at > LISTEN_MS;
      const other = await this.#take(threadId, token, { silent: isSilent ? heard?.lease : undefined, force });
      if (!other) return Object.assign(() => this.#release(threadId, token), { token });
      const isSame = heard?.lease.holder === other.holder && heard.lease.beat === other.beat;
      heard = isSame ? heard : { lease: other, at: now };
      if (isAlive(other) && now >= deadline) throw busy(threadId, other);
      await sleep(RETRY_MS);
    }
  }

  /**
   * Throws `thread-busy` unless this process may write to the thread now: nobody else holds it, and if it was held
   * from here, it still is. `token` is that of the run which writes. Call inside the transaction that writes.
   */
  check(threadId: string, token = this.#held.get(threadId)): void {
    const lease = this.find(threadId);
    if (token === undefined ? lease && isAlive(lease) : lease?.holder !== token) throw busy(threadId, lease);
  }

  find(threadId: string): Lease | undefined {
    return this.#connection.known.get(nameOf(threadId), () =>
      LEASES.get(this.#connection, "WHERE thread = ?", [threadId]),
    );
  }

  /** The threads that somebody works on. */
  held(): string[] {
    return LEASES.all(this.#connection, "", []).flatMap((lease) => (isAlive(lease) ? [lease.thread] : []));
  }

  releaseAll(): void {
    for (const [threadId, token] of this.#held) {
      this.#giveBack(threadId, token);
      ours.delete(token);
    }
    this.#held.clear();
  }

  /** Lets the process end its part: leases that are still held are those of a process that ends. */
  close(): void {
    this.#heart?.stop();
  }

  /** Returns who has the thread instead, if anybody has. `silent` is one who was listened to in vain. */
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
      this.#connection.known.delete(nameOf(threadId));
      // At once: the store may be closed before anything else is done.
      this.#held.set(threadId, token);
      ours.add(token);
      return undefined;
    };
    try {
      const other = await this.#together.save(take);
      // It may be done twice, and another have come in between.
      if (other) this.#forget(threadId, token);
      else if (this.#connection.isOpen) this.#heart?.beat();
      return other;
    } catch (error) {
      this.#forget(threadId, token);
      throw error;
    }
  }

  async #release(threadId: string, token: string): Promise<void> {
    if (this.#held.get(threadId) !== token) return;
    try {
      await this.#together.save(() => {
        this.#giveBack(threadId, token);
        // In the same moment: who writes next holds it no more.
        if (this.#held.get(threadId) === token) this.#held.delete(threadId);
      });
    } catch (error) {
      if (!this.#held.has(threadId)) this.#held.set(threadId, token);
      throw error;
    }
    ours.delete(token);
    if (this.#held.size === 0) this.#heart?.rest();
  }

  #giveBack(threadId: string, token: string): void {
    this.#connection.run("DELETE FROM leases WHERE thread = ? AND holder = ?", [threadId, token]);
    this.#connection.known.delete(nameOf(threadId));
  }

  #forget(threadId: string, token: string): void {
    if (this.#held.get(threadId) === token) this.#held.delete(threadId);
    ours.delete(token);
  }
}

function nameOf(threadId: string): string {
  return `lease ${threadId}`;
}

/** Whether a holder seems to be alive. Clocks can be set, so only `acquire` acts on a silence, after listening. */
export function isAlive(lease: Lease): boolean {
  return Math.abs(Date.now() - lease.beat) <= STALE_MS && !isDead(lease);
}

/** Whether the holder's process is known to be gone. */
function isDead({ holder, pid, host, since }: Lease): boolean {
  return host === hostname() && isProcessGone({ pid, since, isOurs: ours.has(holder) });
}
