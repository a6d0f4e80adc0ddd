import { hostname } from "node:os";
import { version } from "../../version.ts";
import type { ClusterDatabase } from "./database/database.ts";
import { SCHEMA } from "./database/schema.ts";
import { DEAD_MS, Heartbeat } from "./heartbeat.ts";
import { TURN } from "./queue/jobs.ts";
import { SCHEDULED } from "./schedules.ts";

const LOOK_MS = 500;
const SWEEP_MS = 60_000;

/** The time after an outage of the database in which no one is declared dead: no heartbeat could be written. */
const GRACE_MS = 2 * DEAD_MS;

/** How long the row of a dead worker is kept: a process that was suspended must find it when it wakes up. */
const KEPT_DEAD = "1 hour";

/** The row of a worker, with its heartbeat. */
export class Membership {
  readonly id: string;
  readonly #db: ClusterDatabase;
  readonly #heartbeat: Heartbeat;

  private constructor(db: ClusterDatabase, id: string, heartbeat: Heartbeat) {
    this.#db = db;
    this.id = id;
    this.#heartbeat = heartbeat;
  }

  /** Throws `storage-failed` without a first heartbeat: others would take over every run of this worker. */
  static async join(
    db: ClusterDatabase,
    { slots, queues, onLost }: { slots: number; queues: readonly string[]; onLost: () => void },
  ): Promise<Membership> {
    // A new id for each process: a worker that was declared dead stays dead.
    const id = `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
    // In the future, as the first beat may take a while on a busy machine.
    await db.pool.query(
      `INSERT INTO ${SCHEMA}.workers (id, state, host, pid, version, slots, queues, beat)
       VALUES ($1, 'working', $2, $3, $4, $5, $6, now() + interval '10 seconds')`,
      [id, hostname(), process.pid, version(), slots, queues],
    );
    try {
      return new Membership(db, id, await Heartbeat.start({ url: db.url, id, onLost }));
    } catch (error) {
      await db.pool.query(`DELETE FROM ${SCHEMA}.workers WHERE id = $1`, [id]).catch(() => {});
      throw error;
    }
  }

  /** Marks the worker as one that takes no more runs. */
  async drain(): Promise<void> {
    await this.#db.pool.query(
      `UPDATE ${SCHEMA}.workers SET state = 'draining' WHERE id = $1 AND state = 'working'`,
      [this.id],
    );
  }

  async leave(): Promise<void> {
    await this.#heartbeat.stop();
    await this.#db.pool.query(`DELETE FROM ${SCHEMA}.workers WHERE id = $1 AND state <> 'dead'`, [this.id]);
  }
}

/** Returns the turns of dead workers to the queue. Every server and every worker has one. */
export class Reaper {
  readonly #db: ClusterDatabase;
  readonly #timer: NodeJS.Timeout;
  readonly #pass: NodeJS.Timeout;
  #isChecking = false;
  #trustedFrom = 0;

  constructor(db: ClusterDatabase) {
    this.#db = db;
    this.#timer = setInterval(() => void this.#check(), LOOK_MS).unref();
    // Failures are ignored: the next pass, here or in another process, makes up for them.
    this.#pass = setInterval(() => {
      void sweepEvents(db).catch(() => {});
      void sweepWorkflows(db).catch(() => {});
    }, SWEEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#pass);
  }

  async #check(): Promise<void> {
    if (this.#isChecking) return;
    this.#isChecking = true;
    const startedAt = performance.now();
    try {
      await this.#reap();
    } catch {
      // The database is away: no one can send heartbeats.
      this.#trustedFrom = performance.now() + GRACE_MS;
    } finally {
      // The result is too old if this process was suspended meanwhile.
      if (performance.now() - startedAt > DEAD_MS) this.#trustedFrom = performance.now() + GRACE_MS;
      this.#isChecking = false;
    }
  }

  async #reap(): Promise<void> {
    const { pool, client } = this.#db;
    const { rows } = await pool.query<{ id: string }>({
      name: "holdfast_reap",
      text: `WITH old AS (DELETE FROM ${SCHEMA}.workers WHERE state = 'dead' AND beat < now() - interval '${KEPT_DEAD}'),
        dying AS (UPDATE ${SCHEMA}.workers SET state = 'dead'
          WHERE $3 AND state <> 'dead' AND beat < now() - $1 * interval '1 millisecond'
            AND pg_postmaster_start_time() < now() - $2 * interval '1 millisecond' RETURNING id)
        SELECT id FROM ${SCHEMA}.workers WHERE state = 'dead' UNION SELECT id FROM dying`,
      values: [DEAD_MS, GRACE_MS, performance.now() >= this.#trustedFrom],
    });
    if (rows.length === 0) return;
    const unfinished = await client.listWorkflows({
      executorId: rows.map(({ id }) => id),
      status: "PENDING",
      loadInput: false,
      loadOutput: false,
    });
    const queues = new Map<string | undefined, string[]>();
    for (const { workflowID, workflowName, queueName } of unfinished) {
      // The workflows of schedules are in no queue.
      const queue = workflowName === TURN ? queueName : undefined;
      queues.set(queue, [...(queues.get(queue) ?? []), workflowID]);
    }
    for (const [queueName, ids] of queues)
      await client.resumeWorkflows(ids, { ...(queueName && { queueName }) });
  }
}

/** Deletes events that are older than ten minutes, except those of threads with an active run. */
async function sweepEvents({ pool }: Pick<ClusterDatabase, "pool">): Promise<void> {
  await pool.query(
    `DELETE FROM ${SCHEMA}.events e WHERE e.at < now() - interval '10 minutes' AND NOT EXISTS
       (SELECT 1 FROM ${SCHEMA}.jobs j WHERE j.thread = e.thread AND j.status = 'running')`,
  );
}

/** Deletes old finished workflows, turns and those of schedules, which DBOS keeps for ever. */
export async function sweepWorkflows({ client }: Pick<ClusterDatabase, "client">): Promise<void> {
  for (const [workflowName, kept] of Object.entries(KEPT_MS)) {
    const completedBefore = new Date(Date.now() - kept).toISOString();
    const over = { workflowName, completedBefore, limit: SWEPT_AT_ONCE };
    for (let count = SWEPT_AT_ONCE; count === SWEPT_AT_ONCE;) {
      const workflows = await client.listWorkflows({ ...over, loadInput: false, loadOutput: false });
      count = workflows.length;
      if (count > 0) await client.deleteWorkflows(workflows.map(({ workflowID }) => workflowID));
    }
  }
}

const HOUR_MS = 60 * 60 * 1000;

/** How long finished workflows are kept. Long for schedules: a worker whose clock is behind must not start them again. */
const KEPT_MS = { [TURN]: HOUR_MS, [SCHEDULED]: 24 * HOUR_MS };
const SWEPT_AT_ONCE = 1000;
