import type { PoolClient } from "pg";
import type { RunRecord, RunStatus } from "../../../storage/index.ts";
import { alreadyRunning, atWork, type RunRequest } from "../../host/index.ts";
import { APPLICATION, tell, type ClusterDatabase, type Transaction } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";
import { change, IS_DUE, jobsWhere, type Job, type Stop } from "./job-table.ts";

/** The default queue of turns in DBOS, and the name of their workflow. */
export const QUEUE = "runs";
export const TURN = "turn";

/** A run that was started this often without an end has failed: it kills its workers. */
export const MOST_ATTEMPTS = 5;

/** The most concurrent runs by key: `{ "model:openai:gpt-5.1": 20, "tenant:*": 5 }`. */
export type Limits = Readonly<Record<string, number>>;

interface Claimant {
  worker: string;
  queues: readonly string[];
  limits: Limits;
}

/**
 * The runs of all threads, in the order of their requests. DBOS decides which worker continues which thread (a turn); the
 * runs themselves are in our table, so that they keep their order even if turns are delayed, lost or duplicated. A thread
 * has a turn in the queue, or a worker, exactly while it has a run that is due. Every change locks its thread, and adds
 * the necessary turn in the same transaction.
 */
export class Jobs {
  readonly #db: ClusterDatabase;
  /** The ids of runs that this process has claimed and not left. */
  readonly #claimed = new Set<string>();

  constructor(db: ClusterDatabase) {
    this.#db = db;
  }

  /**
   * Queues a run behind those of its thread, or replaces them, as its strategy says. Throws `thread-busy` with the strategy
   * `reject` if the thread has a run.
   */
  async enqueue(record: RunRecord): Promise<void> {
    const { id, thread, request } = record;
    const { strategy = "reject", delay = 0, limits = [] } = request as RunRequest;
    const { priority, queue } = queueOf(record);
    await this.#db.transaction(thread, async (tx) => {
      const open = await jobsWhere(tx, `thread = $1 AND ${OPEN}`, [thread]);
      if (open.length > 0 && strategy === "reject") throw alreadyRunning();
      if (strategy === "interrupt" || strategy === "rollback") await this.#stop(tx, open, strategy);
      await tx.query(
        `INSERT INTO ${SCHEMA}.jobs (id, thread, status, created, updated, attempt, request, due, priority, queue, keys)
         VALUES ($1, $2, 'pending', $3, $3, $4, $5, now() + $6 * interval '1 second', $7, $8, $9)
         ON CONFLICT (id) DO NOTHING`,
        [
          id,
          thread,
          record.createdAt,
          record.attempt,
          JSON.stringify(request),
          delay,
          priority,
          queue,
          limits,
        ],
      );
      const hasTurn = open.length > 0 && (strategy === "enqueue" || open.some(isRunning));
      if (!hasTurn || delay > 0) await this.#turn(tx, record, delay);
    });
  }

  /** Stops runs: a waiting one at once, a running one through its worker. Returns whether there was one to stop. */
  async stop(ids: readonly string[], how: Stop): Promise<boolean> {
    const jobs = await jobsWhere(this.#db.pool, "id = ANY($1)", [ids]);
    let isStopped = false;
    for (const thread of new Set(jobs.map((job) => job.thread))) {
      await this.#db.transaction(thread, async (tx) => {
        const open = await jobsWhere(
          tx,
          "id = ANY($1) AND thread = $2 AND status IN ('pending', 'running')",
          [ids, thread],
        );
        isStopped ||= open.length > 0;
        await this.#stop(tx, open, how);
        // A run that waited for a limit has used up the turn of those behind it.
        await this.#goOn(tx, thread);
      });
    }
    return isStopped;
  }

  /**
   * Claims the next run of a thread for a worker. Undefined if the thread has none, if a worker has it already, if a limit
   * is reached, or if it is delayed or for another worker, as this one has other queues or was declared dead. A run that
   * has killed too many workers is returned with the status `error`.
   */
  async claim(thread: string, claimant: Claimant): Promise<Job | undefined> {
    let id: string | undefined;
    try {
      return await this.#db.transaction(thread, async (tx) => {
        const job = await this.#next(tx, thread, claimant);
        if (job?.status !== "running") return job;
        // While the thread is locked, so that another turn of it in this worker sees the claim.
        this.#claimed.add((id = job.id));
        return job;
      });
    } catch (error) {
      // The claim may have been committed all the same: then the run is claimed once more.
      if (id !== undefined) this.#claimed.delete(id);
      throw error;
    }
  }

  /** Saves the base checkpoint of a run, as long as it is this worker's. */
  async note({ id, worker, attempt }: Job, { base }: { base: string }): Promise<void> {
    await this.#db.pool.query(
      `UPDATE ${SCHEMA}.jobs SET base = coalesce(base, $4) WHERE id = $1 AND worker = $2 AND attempt = $3`,
      [id, worker, attempt, base],
    );
  }

  /** Ends a run, and wakes those that waited for it. Returns false if it is not this worker's any more. */
  async end(job: Job, status: RunStatus, reason?: string): Promise<boolean> {
    return this.#leave(job, async (tx) => {
      if (job.stop === "rollback") await tx.query(`DELETE FROM ${SCHEMA}.jobs WHERE id = $1`, [job.id]);
      else await change(tx, job.id, { status, reason: reason ?? null, worker: null, stop: null });
    });
  }

  /**
   * Returns a run to the queue, for any worker: after `delay` seconds, and as a new `attempt` if it failed. A run with a
   * reason keeps its place in its thread until then.
   */
  async putBack(
    job: Job,
    { delay = 0, reason, attempt = job.attempt }: { delay?: number; reason?: string; attempt?: number } = {},
  ): Promise<boolean> {
    return this.#leave(job, async (tx) => {
      await change(tx, job.id, { status: "pending", attempt, worker: null, reason: reason ?? null });
      await tx.query(`UPDATE ${SCHEMA}.jobs SET due = now() + $2 * interval '1 second' WHERE id = $1`, [
        job.id,
        delay,
      ]);
      if (delay > 0) await this.#turn(tx, job, delay);
    });
  }

  async find(id: string): Promise<Job | undefined> {
    return (await jobsWhere(this.#db.pool, "id = $1", [id]))[0];
  }

  /** The existing jobs of a list, by id. */
  async named(ids: readonly string[]): Promise<Map<string, Job>> {
    if (ids.length === 0) return new Map();
    return new Map((await jobsWhere(this.#db.pool, "id = ANY($1)", [ids])).map((job) => [job.id, job]));
  }

  /** The pending and running runs of a thread, oldest first. */
  async open(thread: string): Promise<Job[]> {
    return jobsWhere(this.#db.pool, "thread = $1 AND status IN ('pending', 'running')", [thread]);
  }

  /** The runs of a thread, oldest first. */
  async ofThread(thread: string): Promise<Job[]> {
    return jobsWhere(this.#db.pool, "thread = $1", [thread]);
  }

  /** All pending and running runs, oldest first. */
  async unfinished(): Promise<Job[]> {
    return jobsWhere(this.#db.pool, "status IN ('pending', 'running')", []);
  }

  async isBusy(thread: string, tx: Transaction = this.#db.pool): Promise<boolean> {
    const open = `SELECT 1 FROM ${SCHEMA}.jobs WHERE thread = $1 AND ${OPEN} LIMIT 1`;
    return ((await tx.query(open, [thread])).rowCount ?? 0) > 0;
  }

  /** The running jobs of a worker with a request to stop, which it may have missed. */
  async stopped(worker: string): Promise<Job[]> {
    return jobsWhere(this.#db.pool, "status = 'running' AND worker = $1 AND stop IS NOT NULL", [worker]);
  }

  async remove(id: string): Promise<void> {
    await this.#db.pool.query(`DELETE FROM ${SCHEMA}.jobs WHERE id = $1`, [id]);
  }

  /**
   * Deletes the runs of a thread and their events, which a new thread of the same name must not get. `keepsEvents`: readers
   * may still need the events. Throws `thread-busy` while it is at work.
   */
  async forget(thread: string, { keepsEvents = false } = {}): Promise<void> {
    await this.#db.transaction(thread, async (tx) => {
      if (await this.isBusy(thread, tx)) throw atWork(thread);
      await tx.query(`DELETE FROM ${SCHEMA}.jobs WHERE thread = $1`, [thread]);
      if (!keepsEvents) await tx.query(`DELETE FROM ${SCHEMA}.events WHERE thread = $1`, [thread]);
    });
  }

  /** Deletes the events of a thread that was deleted: it has no runs and no record. */
  async forgetOldEvents(thread: string): Promise<void> {
    await this.#db.pool.query({
      name: "holdfast_forget_words",
      text: `DELETE FROM ${SCHEMA}.events WHERE thread = $1
        AND NOT EXISTS (SELECT FROM ${SCHEMA}.jobs WHERE thread = $1)
        AND NOT EXISTS (SELECT FROM ${SCHEMA}.hosted WHERE thread = $1)`,
      values: [thread],
    });
  }

  async #next(
    tx: PoolClient,
    thread: string,
    { worker, queues, limits }: Claimant,
  ): Promise<Job | undefined> {
    const open = await jobsWhere(tx, "thread = $1 AND status IN ('pending', 'running')", [thread]);
    const running = open.find(isRunning);
    if (running && (await this.#isAtWork(tx, running, worker))) return undefined;
    // A run that was returned to the queue keeps its place: those behind it wait with it.
    const next =
      running ??
      open.find(({ dueIn, reason }) => dueIn <= 0 || reason !== undefined) ??
      open.toSorted((a, b) => a.dueIn - b.dueIn)[0];
    if (!next) return undefined;
    // A turn that came too early, as clocks differ, or to the wrong worker is repeated: it is the thread's only one.
    const isTaken = next.dueIn <= 0 && queues.includes(next.queue) && (await isAlive(tx, worker));
    if (!isTaken) await this.#turn(tx, next, next.dueIn);
    // Its worker is dead.
    else if (running) return this.#takeOver(tx, running, worker);
    else if (await this.#hasRoom(tx, next, limits))
      return this.#begin(tx, next, { worker, attempt: next.attempt });
    return undefined;
  }

  /** Leaves a claimed run, and adds the next turn of its thread. Returns false if it is not this worker's any more. */
  async #leave(job: Job, leave: (tx: PoolClient) => Promise<void>): Promise<boolean> {
    const { id, thread, worker, attempt } = job;
    const isLeft = await this.#db.transaction(thread, async (tx) => {
      const claimed = `SELECT FROM ${SCHEMA}.jobs WHERE id = $1 AND worker = $2 AND attempt = $3 AND status = 'running'`;
      if ((await tx.query(claimed, [id, worker, attempt])).rowCount === 0) return false;
      await leave(tx);
      await this.#goOn(tx, thread);
      await this.#tellEnds(tx, [job]);
      return true;
    });
    this.#claimed.delete(id);
    return isLeft;
  }

  async #stop(tx: PoolClient, open: readonly Job[], how: Stop): Promise<void> {
    const stopped: Job[] = [];
    for (const job of open) {
      const { id, status } = job;
      if (status === "running") {
        await change(tx, id, { stop: how });
        await tell(tx, "stop", JSON.stringify({ id, how }));
      } else {
        if (how === "rollback") await tx.query(`DELETE FROM ${SCHEMA}.jobs WHERE id = $1`, [id]);
        else await change(tx, id, { status: "interrupted", waits: null, woken: null });
        stopped.push(job);
      }
    }
    // The room that was reserved for them is free again.
    await this.#tellEnds(tx, stopped);
  }

  async #isAtWork(tx: Transaction, { id, worker }: Job, me: string): Promise<boolean> {
    if (worker === me) return this.#claimed.has(id);
    return worker !== undefined && isAlive(tx, worker);
  }

  async #takeOver(tx: PoolClient, job: Job, worker: string): Promise<Job> {
    if (job.attempt < MOST_ATTEMPTS)
      return this.#begin(tx, { ...job, isTakenOver: true }, { worker, attempt: job.attempt + 1 });
    const reason = `It started ${job.attempt} times, and each time its worker died.`;
    await change(tx, job.id, { status: "error", reason, worker: null });
    await this.#goOn(tx, job.thread);
    await this.#tellEnds(tx, [job]);
    return { ...job, status: "error", reason };
  }

  async #tellEnds(tx: PoolClient, jobs: readonly Job[]): Promise<void> {
    await this.#wake(
      tx,
      jobs.flatMap(({ keys }) => keys),
    );
    for (const thread of new Set(jobs.map((job) => job.thread))) await tell(tx, "ended", thread);
  }

  async #begin(
    tx: Transaction,
    job: Job,
    { worker, attempt }: { worker: string; attempt: number },
  ): Promise<Job> {
    await change(tx, job.id, { status: "running", worker, attempt, waits: null, woken: null, reason: null });
    return { ...job, status: "running", worker, attempt };
  }

  /**
   * Whether every limit allows one more run, counting runs that were woken earlier for the same room. If not, the run waits
   * for the end of another with the same key.
   */
  async #hasRoom(tx: PoolClient, { id, keys }: Job, limits: Limits): Promise<boolean> {
    const [full, free]: [string[], string[]] = [[], []];
    for (const key of keys.toSorted()) {
      const most = limits[key] ?? limits[key.replace(/:.*/s, ":*")];
      if (most === undefined) continue;
      await tx.query(`SELECT pg_advisory_xact_lock(${keyLock("$1")})`, [key]);
      const running = await tx.query(
        `SELECT 1 FROM ${SCHEMA}.jobs WHERE status = 'running' AND keys @> ARRAY[$1]
         UNION ALL SELECT 1 FROM ${SCHEMA}.jobs j WHERE woken = $1 AND status = 'pending'
           AND (priority, -seq) > (SELECT priority, -seq FROM ${SCHEMA}.jobs WHERE id = $3)
           AND EXISTS (SELECT FROM ${SCHEMA}.workers WHERE state = 'working' AND j.queue = ANY(queues))
         LIMIT $2`,
        [key, most, id],
      );
      ((running.rowCount ?? 0) < most ? free : full).push(key);
    }
    if (full.length === 0) return true;
    await change(tx, id, { waits: full[0], woken: null });
    // Others can use the room that this run cannot.
    await this.#wake(tx, free);
    return false;
  }

  /**
   * Wakes the next run that waits for each key, as often as the key is in the list. The lock is shared: ending runs wait
   * only for a run that is counting under the key, so each wakes another one. Call it once per transaction. Keys are sorted,
   * as in `#hasRoom`, to avoid deadlocks.
   */
  async #wake(tx: PoolClient, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    const sorted = keys.toSorted();
    const lock = `SELECT pg_advisory_xact_lock_shared(${keyLock("key")}) FROM unnest($1::text[]) key`;
    await tx.query(lock, [sorted]);
    const waiting = `SELECT DISTINCT waits FROM ${SCHEMA}.jobs WHERE waits = ANY($1)`;
    const { rows } = await tx.query<{ waits: string }>(waiting, [sorted]);
    for (const { waits } of rows) {
      const room = sorted.filter((key) => key === waits).length;
      const order = `priority DESC, seq LIMIT ${room} FOR UPDATE SKIP LOCKED`;
      for (const next of await jobsWhere(tx, "waits = $1", [waits], order)) {
        await change(tx, next.id, { waits: null, woken: waits });
        await this.#turn(tx, next);
      }
    }
  }

  /** Adds a turn for the next due run of a thread, if it has one. */
  async #goOn(tx: PoolClient, thread: string): Promise<void> {
    const [next] = await jobsWhere(tx, `thread = $1 AND status = 'pending' AND ${IS_DUE}`, [thread]);
    if (next) await this.#turn(tx, next);
  }

  /** Adds a turn for a run's thread, in the queue of the run. */
  async #turn(tx: PoolClient, run: RunRecord, delay = 0): Promise<void> {
    const { thread } = run;
    const { priority, queue } = queueOf(run);
    const options = {
      workflowName: TURN,
      queueName: queue,
      workflowID: `${thread}/${crypto.randomUUID()}`,
      appVersion: APPLICATION.version,
      // DBOS takes the lowest number first, from 0.
      priority: PRIORITY_MIDDLE - priority,
      // DBOS wants whole milliseconds.
      ...(delay > 0 && { delaySeconds: Math.ceil(delay) }),
    };
    await this.#db.client.enqueueInTransaction<(thread: string) => Promise<void>>(tx, options, thread);
  }
}

/** Matches runs that are running, due, or returned to the queue (with a reason). */
const OPEN = `(status = 'running' OR status = 'pending' AND (${IS_DUE} OR reason IS NOT NULL))`;

const isRunning = ({ status }: Job): boolean => status === "running";

/** Requests have −100 to 100, the highest first. */
const PRIORITY_MIDDLE = 100;

function queueOf({ request }: RunRecord): { priority: number; queue: string } {
  const { priority = 0, queue = QUEUE } = request as RunRequest;
  return { priority, queue };
}

/** Whether a worker is registered and not declared dead. */
async function isAlive(tx: Transaction, worker: string): Promise<boolean> {
  const row = await tx.query(`SELECT 1 FROM ${SCHEMA}.workers WHERE id = $1 AND state <> 'dead'`, [worker]);
  return (row.rowCount ?? 0) > 0;
}

/** A lock on a key: exclusive for counting its runs, shared for waking a run that waits for it. */
const keyLock = (key: string): string => `hashtextextended(${key}, 11)`;
