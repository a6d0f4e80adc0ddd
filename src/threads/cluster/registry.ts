import { hostname } from "node:os";
import { version } from "../../version.ts";
import type { ClusterDatabase } from "./database/database.ts";
import { SCHEMA } from "./database/schema.ts";
import { DEAD_MS, Heartbeat } from "./heartbeat.ts";
import { TURN } from "./queue/jobs.ts";
import { SCHEDULED } from "./schedules.ts";

const LOOK_MS = 500;
const SWEEP_MS = 60_000;

/** After the database was away nobody can have been heard of for a moment. */
const GRACE_MS = 2 * DEAD_MS;

/** So long a dead worker is remembered: one that was stopped and wakes up must find that out. */
const REMEMBERED = "1 hour";

/** A worker's place among the others. */
export class Membership {
  readonly id: string;
  readonly #db: ClusterDatabase;
  readonly #heart: Heartbeat;

  private constructor(db: ClusterDatabase, id: string, heart: Heartbeat) {
    this.#db = db;
    this.id = id;
    this.#heart = heart;
  }

  /** Throws `storage-failed` where its heartbeat cannot be kept up: others would take every run from it. */
  static async join(
    db: ClusterDatabase,
    { slots, queues, onLost }: { slots: number; queues: readonly string[]; onLost: () => void },
  ): Promise<Membership> {
    // A name is used once: who was declared dead stays dead.
    const id = `${hostname()}-${process.pid}-${crypto.randomUUID().slice(0, 8)}`;
    // A heart takes a moment to begin, on a machine that is busy.
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

  /** Says that it takes no more runs. */
  async drain(): Promise<void> {
    await this.#db.pool.query(
      `UPDATE ${SCHEMA}.workers SET state = 'draining' WHERE id = $1 AND state = 'working'`,
      [this.id],
    );
  }

  async leave(): Promise<void> {
    await this.#heart.stop();
    await this.#db.pool.query(`DELETE FROM ${SCHEMA}.workers WHERE id = $1 AND state <> 'dead'`, [this.id]);
  }
}

/** Gives the turns of dead workers back to the queue. Every server and every worker does, in case the others are dead. */
export class Reaper {
  readonly #db: ClusterDatabase;
  readonly #timer: NodeJS.Timeout;
  readonly #sweep: NodeJS.Timeout;
  #isLooking = false;
  #trustedFrom = 0;

  constructor(db: ClusterDatabase) {
    this.#db = db;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS).unref();
    // What cannot be swept now is swept in a minute, by this process or another.
    this.#sweep = setInterval(() => {
      void sweepEvents(db).catch(() => {});
      void sweepWorkflows(db).catch(() => {});
    }, SWEEP_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    clearInterval(this.#sweep);
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const began = performance.now();
    try {
      await this.#reap();
    } catch {
      // The database is away.
      this.#trustedFrom = performance.now() + GRACE_MS;
    } finally {
      // So is what was asked before this process was stopped for a while.
      if (performance.now() - began > DEAD_MS) this.#trustedFrom = performance.now() + GRACE_MS;
      this.#isLooking = false;
    }
  }

  async #reap(): Promise<void> {
    const { pool, client } = this.#db;
    const { rows } = await pool.query<{ id: string }>({
      name: "holdfast_reap",
      text: `WITH old AS (DELETE FROM ${SCHEMA}.workers WHERE state = 'dead' AND beat < now() - interval '${REMEMBERED}'),
        dying AS (UPDATE ${SCHEMA}.workers SET state = 'dead'
          WHERE $3 AND state <> 'dead' AND beat < now() - $1 * interval '1 millisecond'
            AND pg_postmaster_start_time() < now() - $2 * interval '1 millisecond' RETURNING id)
        SELECT id FROM ${SCHEMA}.workers WHERE state = 'dead' UNION SELECT id FROM dying`,
      values: [DEAD_MS, GRACE_MS, performance.now() >= this.#trustedFrom],
    });
    if (rows.length === 0) return;
    const left = await client.listWorkflows({
      executorId: rows.map(({ id }) => id),
      status: "PENDING",
      loadInput: false,
      loadOutput: false,
    });
    const queues = new Map<string | undefined, string[]>();
    for (const { workflowID, workflowName, queueName } of left) {
      // What a schedule starts is begun by nobody's queue.
      const queue = workflowName === TURN ? queueName : undefined;
      queues.set(queue, [...(queues.get(queue) ?? []), workflowID]);
    }
    for (const [queueName, ids] of queues)
      await client.resumeWorkflows(ids, { ...(queueName && { queueName }) });
  }
}

/** Deletes what runs said that nobody can come back to: those that ended more than ten minutes ago. */
export async function sweepEvents({ pool }: Pick<ClusterDatabase, "pool">): Promise<void> {
  await pool.query(
    `DELETE FROM ${SCHEMA}.events e WHERE e.at < now() - interval '10 minutes' AND NOT EXISTS
       (SELECT 1 FROM ${SCHEMA}.jobs j WHERE j.thread = e.thread AND j.status = 'running')`,
  );
}

/** Deletes the turns, and what schedules started, that were over long ago: DBOS keeps them for ever. */
export async function sweepWorkflows({ client }: Pick<ClusterDatabase, "client">): Promise<void> {
  for (const [workflowName, kept] of Object.entries(KEPT_MS)) {
    const completedBefore = new Date(Date.now() - kept).toISOString();
    const over = { workflowName, completedBefore, limit: SWEPT_AT_ONCE };
    for (let count = SWEPT_AT_ONCE; count === SWEPT_AT_ONCE;) {
      const found = await client.listWorkflows({ ...over, loadInput: false, loadOutput: false });
      count = found.length;
      if (count > 0) await client.deleteWorkflows(found.map(({ workflowID }) => workflowID));
    }
  }
}

const HOUR_MS = 60 * 60 * 1000;

/** A schedule's stay until no worker, however far its clock is behind, takes their moment for one to come. */
const KEPT_MS = { [TURN]: HOUR_MS, [SCHEDULED]: 24 * HOUR_MS };
const SWEPT_AT_ONCE = 1000;
