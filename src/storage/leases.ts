import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { HarnessError } from "../errors.ts";
import type { Connection, Row } from "./connection.ts";

export interface AcquireOptions {
  /** How long to wait for the present holder, in milliseconds. Default 0. */
  wait?: number;
}

export interface Lease {
  holder: string;
  pid: number;
  host: string;
  since: number;
  beat: number;
}

const BEAT_MS = 5_000;
/** A holder that has not been heard of for this long is taken for dead: it slept, hung, or its number was reused. */
const STALE_MS = 30_000;
const RETRY_MS = 50;

/** Who works on which thread. Held by one process at a time, and taken over when the holder is dead. */
export class Leases {
  readonly #connection: Connection;
  readonly #held = new Map<string, string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Takes a thread. Throws `thread-busy` when another holder is alive, at once or after `wait`. */
  async acquire(threadId: string, { wait = 0 }: AcquireOptions = {}): Promise<() => Promise<void>> {
    const deadline = Date.now() + wait;
    for (;;) {
      const token = randomUUID();
      const other = this.#take(threadId, token);
      if (!other) return () => Promise.resolve(this.#release(threadId, token));
      const left = deadline - Date.now();
      if (left <= 0) throw busy(threadId, other);
      await sleep(Math.min(RETRY_MS, left));
    }
  }

  /**
   * Throws `thread-busy` unless this process may write to the thread now: nobody else holds it, and if it was held
   * from here, it still is. Call inside the transaction that writes.
   */
  check(threadId: string): void {
    const token = this.#held.get(threadId);
    const lease = this.#read(threadId);
    if (token === undefined ? lease && isAlive(lease) : lease?.holder !== token) throw busy(threadId, lease);
  }

  releaseAll(): void {
    for (const [threadId, token] of this.#held) this.#release(threadId, token);
  }

  /** Returns who has the thread instead, if anybody has. */
  #take(threadId: string, token: string): Lease | undefined {
    const other = this.#connection.transaction(() => {
      const lease = this.#read(threadId);
      if (lease && isAlive(lease)) return lease;
      const now = Date.now();
      this.#connection.run(
        "INSERT OR REPLACE INTO leases (thread, holder, pid, host, since, beat) VALUES (?, ?, ?, ?, ?, ?)",
        [threadId, token, process.pid, hostname(), now, now],
      );
      return undefined;
    });
    if (other) return other;
    this.#held.set(threadId, token);
    this.#timer ??= setInterval(() => this.#beat(), BEAT_MS).unref();
    return undefined;
  }

  #release(threadId: string, token: string): void {
    if (this.#held.get(threadId) !== token) return;
    this.#connection.run("DELETE FROM leases WHERE thread = ? AND holder = ?", [threadId, token]);
    this.#held.delete(threadId);
    if (this.#held.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #beat(): void {
    try {
      const tokens = JSON.stringify([...this.#held.values()]);
      this.#connection.run("UPDATE leases SET beat = ? WHERE holder IN (SELECT value FROM json_each(?))", [
        Date.now(),
        tokens,
      ]);
    } catch {
      // A beat that is missed because the file is locked is made up for by the next one.
    }
  }

  #read(threadId: string): Lease | undefined {
    const row = this.#connection.get("SELECT * FROM leases WHERE thread = ?", [threadId]);
    return row && toLease(row);
  }
}

export function toLease({ holder, pid, host, since, beat }: Row): Lease {
  return { holder, pid, host, since, beat } as unknown as Lease;
}

export function isAlive({ pid, host, since, beat }: Lease): boolean {
  if (Date.now() - beat > STALE_MS) return false;
  if (host !== hostname()) return true;
  // A container that is restarted gives its process the number that the dead one had.
  if (pid === process.pid) return since >= Date.now() - process.uptime() * 1000;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function busy(threadId: string, lease: Lease | undefined): HarnessError {
  const what = lease
    ? `is in use by process ${lease.pid} on ${lease.host} since ${new Date(lease.since).toISOString()}`
    : "was taken over by another process, which has finished";
  const fix = lease ? "Wait for it or stop it" : "Read the thread again before going on";
  return new HarnessError("thread-busy", `Thread ${JSON.stringify(threadId)} ${what}. ${fix}.`);
}
