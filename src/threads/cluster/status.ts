import type { ClusterDatabase } from "./database/database.ts";
import { SCHEMA } from "./database/schema.ts";
import { QUEUE } from "./queue/jobs.ts";

/** The state of a cluster at a moment. Times are in milliseconds. */
export interface ClusterStatus {
  workers: WorkerStatus[];
  /** Queues that have a worker or waiting runs. */
  queues: QueueStatus[];
  /** The numbers of pending and running runs, and of those that ended in the last hour, by status. */
  runs: { pending: number; running: number; success: number; error: number; interrupted: number };
}

export interface QueueStatus {
  name: string;
  /** The runs that a worker could start now. */
  depth: number;
  oldestWait: number;
  /** The runs that wait for the end of another, by a limit. */
  limited: number;
  /** The runs that are delayed or wait for a retry. */
  delayed: number;
}

export interface WorkerStatus {
  id: string;
  host: string;
  version: string;
  /** `working`, `draining`, or `dead` for an hour after its last heartbeat. */
  state: string;
  slots: number;
  queues: string[];
  running: number;
  silentFor: number;
  upFor: number;
}

export async function readStatus({ pool }: ClusterDatabase): Promise<ClusterStatus> {
  const [workers, queues, runs] = await Promise.all([
    pool.query<WorkerStatus>(
      `SELECT w.id, w.host, w.version, w.state, w.slots, w.queues, ${ms("beat")} AS "silentFor", ${ms("started")} AS "upFor",
         (SELECT count(*)::int FROM ${SCHEMA}.jobs j WHERE j.status = 'running' AND j.worker = w.id) AS running
       FROM ${SCHEMA}.workers w ORDER BY w.started`,
    ),
    pool.query<QueueStatus>(
      `SELECT q.name, (count(*) FILTER (WHERE due <= now() AND waits IS NULL))::int AS depth,
         coalesce(${ms("min(due) FILTER (WHERE due <= now() AND waits IS NULL)")}, 0) AS "oldestWait",
         count(waits)::int AS limited, (count(*) FILTER (WHERE due > now()))::int AS delayed
       FROM (SELECT '${QUEUE}' UNION SELECT unnest(queues) FROM ${SCHEMA}.workers WHERE state <> 'dead'
         UNION SELECT queue FROM ${SCHEMA}.jobs WHERE status = 'pending') q (name)
       LEFT JOIN ${SCHEMA}.jobs j ON j.queue = q.name AND j.status = 'pending' GROUP BY q.name ORDER BY q.name`,
    ),
    pool.query<{ status: keyof ClusterStatus["runs"]; count: number }>(
      `SELECT status, count(*)::int FROM ${SCHEMA}.jobs WHERE status IN ('pending', 'running') GROUP BY status
       UNION ALL
       SELECT status, count(*)::int FROM ${SCHEMA}.jobs
       WHERE status NOT IN ('pending', 'running') AND updated > $1 GROUP BY status`,
      [Date.now() - HOUR_MS],
    ),
  ]);
  const counts = Object.fromEntries(runs.rows.map(({ status, count }) => [status, count]));
  return {
    workers: workers.rows,
    queues: queues.rows,
    runs: { pending: 0, running: 0, success: 0, error: 0, interrupted: 0, ...counts },
  };
}

const HOUR_MS = 60 * 60 * 1000;

function ms(time: string): string {
  return `round(extract(epoch FROM now() - ${time}) * 1000)::float8`;
}

export function prometheusText({ workers, queues, runs }: ClusterStatus): string {
  const alive = workers.filter(({ state }) => state !== "dead");
  const sum = (of: (worker: WorkerStatus) => number): number => alive.reduce((all, one) => all + of(one), 0);
  const each = (name: string, of: (queue: QueueStatus) => number): string[] =>
    queues.map((queue) => `holdfast_queue_${name}{queue="${queue.name}"} ${of(queue)}`);
  const states = ["working", "draining", "dead"];
  const lines = [
    ...gauge("workers", "Workers by state; dead ones for an hour."),
    ...states.map(
      (state) => `holdfast_workers{state="${state}"} ${workers.filter((one) => one.state === state).length}`,
    ),
    ...gauge("slots", "Runs that all workers can do at a time."),
    `holdfast_slots ${sum(({ slots }) => slots)}`,
    ...gauge("runs", "Runs by state; ended ones of the last hour."),
    ...Object.entries(runs).map(([status, count]) => `holdfast_runs{status="${status}"} ${count}`),
    ...gauge("queue_depth", "Runs that a worker could begin now."),
    ...each("depth", ({ depth }) => depth),
    ...gauge("queue_oldest_wait_seconds", "How long the oldest of them has waited."),
    ...each("oldest_wait_seconds", ({ oldestWait }) => oldestWait / 1000),
    ...gauge("queue_limited", "Runs that wait for the end of another, by a limit."),
    ...each("limited", ({ limited }) => limited),
    ...gauge("queue_delayed", "Runs that are for later, or to be tried again."),
    ...each("delayed", ({ delayed }) => delayed),
  ];
  return `${lines.join("\n")}\n`;
}

function gauge(name: string, help: string): string[] {
  return [`# HELP holdfast_${name} ${help}`, `# TYPE holdfast_${name} gauge`];
}
