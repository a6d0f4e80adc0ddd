import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { attempt } from "../../errors.ts";
import {
  isProcessGone,
  threadBusy,
  type AcquireOptions,
  type Heartbeat,
  type Release,
} from "../store/index.ts";
import { databaseHeartbeat, type Database, type Row } from "./database/index.ts";

export interface Lease {
  thread: string;
  fence: number;
  holder: string;
  pid: number;
  host: string;
  place: string;
  since: number;
  /** Whether its heartbeat is recent, by the server's clock. */
  isFresh: boolean;
}

const RETRY_MS = 50;
/** The ids of the holders in this process. */
const localHolders = new Set<string>();

/**
 * The leases of threads. The token of a lease is its fence, a number that is larger for a later lease. Times are those of
 * the server, which all processes share.
 */
export class Leases {
  readonly #database: Database;
  readonly #heartbeat: Heartbeat;
  /** The fences of the threads that this process holds. */
  readonly #fences = new Map<string, string>();

  constructor(database: Database) {
    this.#database = database;
    this.#heartbeat = databaseHeartbeat(database);
  }

  /** The token of a thread that this process holds. */
  tokenOf(threadId: string): string | undefined {
    return this.#fences.get(threadId);
  }

  /** Takes a lease. Throws `thread-busy` when another holder is alive, at once or after `wait`. */
  async acquire(threadId: string, { wait = 0, force = false }: AcquireOptions = {}): Promise<Release> {
    const holder = randomUUID();
    const deadline = performance.now() + wait;
    for (;;) {
      const other = force ? undefined : await this.find(threadId);
      if (other && isAlive(other)) {
        if (performance.now() >= deadline) throw threadBusy(threadId, other);
        await sleep(RETRY_MS);
        continue;
      }
      const token = await this.#take(threadId, { holder, deadFence: other?.fence ?? null, force });
      if (token !== undefined) return this.#release(threadId, { token, holder });
    }
  }

  /** Returns the token, or undefined when another process holds the thread. */
  async #take(
    threadId: string,
    { holder, deadFence, force }: { holder: string; deadFence: number | null; force: boolean },
  ): Promise<string | undefined> {
    const { schema } = this.#database;
    localHolders.add(holder);
    const [row] = await this.#database.query(
      `INSERT INTO ${schema}.leases AS l (thread, fence, holder, pid, host, place, since, beat)
       VALUES ($1, nextval('${schema}.fences'), $2, $3, $4, $5, now(), now())
       ON CONFLICT (thread) DO UPDATE SET fence = excluded.fence, holder = excluded.holder, pid = excluded.pid,
         host = excluded.host, place = excluded.place, since = excluded.since, beat = excluded.beat
       WHERE l.holder IS NULL OR l.holder = $2 OR l.fence = $6::bigint OR $7::boolean OR l.beat < now() - ${STALE}
       RETURNING fence`,
      [threadId, holder, process.pid, hostname(), PID_NAMESPACE, deadFence, force],
    );
    return row && String(row["fence"]);
  }

  #release(threadId: string, { token, holder }: { token: string; holder: string }): Release {
    this.#fences.set(threadId, token);
    this.#heartbeat.add(token);
    const release = async (): Promise<void> => {
      if (!localHolders.has(holder)) return;
      await this.#free([token]);
      if (this.#fences.get(threadId) === token) this.#fences.delete(threadId);
      localHolders.delete(holder);
      this.#heartbeat.remove(token);
    };
    return Object.assign(release, { token });
  }

  async #free(tokens: readonly string[]): Promise<void> {
    await this.#database.query(
      `UPDATE ${this.#database.schema}.leases SET holder = NULL WHERE fence = ANY($1::bigint[])`,
      [tokens],
    );
  }

  /** The lease of a thread, if it is held. */
  async find(threadId: string): Promise<Lease | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${LEASE_COLUMNS} FROM ${this.#database.schema}.leases WHERE thread = $1 AND holder IS NOT NULL`,
      [threadId],
    );
    return row && toLease(row);
  }

  async atWork(): Promise<Map<string, string>> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT ${LEASE_COLUMNS}, t.revision FROM ${schema}.leases JOIN ${schema}.threads t ON t.id = thread
       WHERE holder IS NOT NULL`,
    );
    const alive = rows.filter((row) => isAlive(toLease(row)));
    return new Map(alive.map((row) => [row["thread"] as string, String(row["revision"])]));
  }

  /** Removes a dead holder from its lease; creates the row if there is none. */
  async clear(threadId: string, lease: Lease | undefined): Promise<void> {
    await this.#database.query(
      `INSERT INTO ${this.#database.schema}.leases AS l (thread) VALUES ($1)
       ON CONFLICT (thread) DO UPDATE SET holder = NULL WHERE l.fence = $2::bigint`,
      [threadId, lease?.fence ?? null],
    );
  }

  /** Releases all leases; those that cannot be released become stale. */
  async close(): Promise<void> {
    const tokens = [...this.#fences.values()];
    if (tokens.length > 0) await this.#free(tokens).catch(() => {});
    this.#fences.clear();
    this.#heartbeat.stop();
  }
}

export function isAlive({ isFresh, holder, pid, place, since }: Lease): boolean {
  return (
    isFresh && !(place === PID_NAMESPACE && isProcessGone({ pid, since, isLocal: localHolders.has(holder) }))
  );
}

export function toLease({ thread, fence, holder, pid, host, place, since, is_fresh }: Row): Lease {
  return {
    thread: thread as string,
    fence: fence as number,
    holder: holder as string,
    pid: pid as number,
    host: host as string,
    place: place as string,
    since: Number(since),
    isFresh: is_fresh === true,
  };
}

/** The age at which a heartbeat is stale: its holder may be dead. */
const STALE = "interval '30 seconds'";

/** The SQL condition for a write: its token is that of the lease, or, without a token, no process holds the lease. */
export function leaseAllows(token: string): string {
  return `CASE WHEN ${token} IS NULL THEN holder IS NULL OR beat < now() - ${STALE}
    ELSE fence = ${token} AND holder IS NOT NULL END`;
}

export const LEASE_COLUMNS = `thread, fence, holder, pid, host, place, extract(epoch FROM since) * 1000 AS since,
  beat >= now() - ${STALE} AS is_fresh`;

/**
 * The scope in which a pid is unique: the host since its start, and on Linux the pid namespace. Containers with the same
 * host name must not take each other's processes for dead.
 */
const PID_NAMESPACE: string = [
  hostname(),
  attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  attempt(() => readlinkSync("/proc/self/ns/pid")),
].join(" ");
