import { randomUUID } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { busy, isProcessGone, type AcquireOptions, type Release } from "../store/index.ts";
import { Heart, type Database, type Row } from "./database/index.ts";

/** Who has a thread. */
export interface Lease {
  thread: string;
  fence: number;
  holder: string;
  pid: number;
  host: string;
  place: string;
  since: number;
  /** Whether it was heard of lately, by the server's clock. */
  isHeard: boolean;
}

const RETRY_MS = 50;
/** Those that hold something from here. */
const ours = new Set<string>();

/**
 * Who works on which thread. The token of a lease is a number, and that of a later lease is larger. Times are those of
 * the server, which all processes have in common.
 */
export class Leases {
  readonly #database: Database;
  readonly #heart: Heart;
  /** The fences of the threads that are held from here. */
  readonly #held = new Map<string, string>();

  constructor(database: Database) {
    this.#database = database;
    this.#heart = new Heart(database);
  }

  /** The token of a thread that is held from here. */
  tokenOf(threadId: string): string | undefined {
    return this.#held.get(threadId);
  }

  /** Takes a thread. Throws `thread-busy` when another holder is alive, at once or after `wait`. */
  async acquire(threadId: string, { wait = 0, force = false }: AcquireOptions = {}): Promise<Release> {
    const holder = randomUUID();
    const deadline = performance.now() + wait;
    for (;;) {
      const other = force ? undefined : await this.find(threadId);
      if (other && isAlive(other)) {
        if (performance.now() >= deadline) throw busy(threadId, other);
        await sleep(RETRY_MS);
        continue;
      }
      const token = await this.#take(threadId, { holder, gone: other?.fence ?? null, force });
      if (token !== undefined) return this.#release(threadId, { token, holder });
    }
  }

  /** Returns the token, or undefined when somebody else has the thread. */
  async #take(
    threadId: string,
    { holder, gone, force }: { holder: string; gone: number | null; force: boolean },
  ): Promise<string | undefined> {
    const { schema } = this.#database;
    ours.add(holder);
    const [taken] = await this.#database.query(
      `INSERT INTO ${schema}.leases AS l (thread, fence, holder, pid, host, place, since, beat)
       VALUES ($1, nextval('${schema}.fences'), $2, $3, $4, $5, now(), now())
       ON CONFLICT (thread) DO UPDATE SET fence = excluded.fence, holder = excluded.holder, pid = excluded.pid,
         host = excluded.host, place = excluded.place, since = excluded.since, beat = excluded.beat
       WHERE l.holder IS NULL OR l.holder = $2 OR l.fence = $6::bigint OR $7::boolean OR l.beat < now() - ${STALE}
       RETURNING fence`,
      [threadId, holder, process.pid, hostname(), PLACE, gone, force],
    );
    return taken && String(taken["fence"]);
  }

  #release(threadId: string, { token, holder }: { token: string; holder: string }): Release {
    this.#held.set(threadId, token);
    this.#heart.add(token);
    const release = async (): Promise<void> => {
      if (!ours.has(holder)) return;
      await this.#free([token]);
      if (this.#held.get(threadId) === token) this.#held.delete(threadId);
      ours.delete(holder);
      this.#heart.remove(token);
    };
    return Object.assign(release, { token });
  }

  async #free(tokens: readonly string[]): Promise<void> {
    await this.#database.query(
      `UPDATE ${this.#database.schema}.leases SET holder = NULL WHERE fence = ANY($1::bigint[])`,
      [tokens],
    );
  }

  /** The one who has a thread, if anybody has. */
  async find(threadId: string): Promise<Lease | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${LEASE_COLUMNS} FROM ${this.#database.schema}.leases WHERE thread = $1 AND holder IS NOT NULL`,
      [threadId],
    );
    return row && toLease(row);
  }

  /** The threads that somebody works on, each with its revision. */
  async atWork(): Promise<Map<string, string>> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT ${LEASE_COLUMNS}, t.revision FROM ${schema}.leases JOIN ${schema}.threads t ON t.id = thread
       WHERE holder IS NOT NULL`,
    );
    const alive = rows.filter((row) => isAlive(toLease(row)));
    return new Map(alive.map((row) => [row["thread"] as string, String(row["revision"])]));
  }

  /** Lets anybody write to a thread whose holder is dead; makes the row that says so where there is none. */
  async clear(threadId: string, lease: Lease | undefined): Promise<void> {
    await this.#database.query(
      `INSERT INTO ${this.#database.schema}.leases AS l (thread) VALUES ($1)
       ON CONFLICT (thread) DO UPDATE SET holder = NULL WHERE l.fence = $2::bigint`,
      [threadId, lease?.fence ?? null],
    );
  }

  /** Gives everything back. What cannot be given back is that of a process which ends. */
  async close(): Promise<void> {
    const tokens = [...this.#held.values()];
    if (tokens.length > 0) await this.#free(tokens).catch(() => {});
    this.#held.clear();
    this.#heart.stop();
  }
}

export function isAlive({ isHeard, holder, pid, place, since }: Lease): boolean {
  return isHeard && !(place === PLACE && isProcessGone({ pid, since, isOurs: ours.has(holder) }));
}

export function toLease({ thread, fence, holder, pid, host, place, since, heard }: Row): Lease {
  return {
    thread: thread as string,
    fence: fence as number,
    holder: holder as string,
    pid: pid as number,
    host: host as string,
    place: place as string,
    since: Number(since),
    isHeard: heard === true,
  };
}

/** A holder that has not been heard of for this long may be dead. */
export const STALE = "interval '30 seconds'";

/** Whether the lease of a thread lets somebody write: theirs, or nobody's. */
export function leaseAllows(token: string): string {
  return `CASE WHEN ${token} IS NULL THEN holder IS NULL OR beat < now() - ${STALE}
    ELSE fence = ${token} AND holder IS NOT NULL END`;
}

export const LEASE_COLUMNS = `thread, fence, holder, pid, host, place, extract(epoch FROM since) * 1000 AS since,
  beat >= now() - ${STALE} AS heard`;

/**
 * Where the number of a process means that process: the same host since it was started, and on Linux the same space of
 * process numbers. Containers that are called alike must not take each other's processes for dead.
 */
const PLACE: string = [
  hostname(),
  attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  attempt(() => readlinkSync("/proc/self/ns/pid")),
].join(" ");

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}
