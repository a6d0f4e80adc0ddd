import type { ClusterDatabase } from "./database.ts";
import { SCHEMA } from "./schema.ts";

/** What there is to see of a cluster at a moment. Times are in milliseconds. */
export interface ClusterStatus {
  workers: WorkerStatus[];
  queue: {
    /** The runs that a worker could begin now. */
    depth: number;
    oldestWait: number;
    /** The runs that wait for the end of another, by a limit. */
    limited: number;
    /** The runs that are for later, or to be tried again. */
    delayed: number;
  };
  /** How many runs are pending and running, and how those ended that ended in the last hour. */
  runs: { pending: number; running: number; success: number; error: number; interrupted: number };
}

export interface WorkerStatus {
  id: string;
  host: string;
  version: string;
  /** `working`, `draining`, or `dead` for an hour after it was last heard of. */
  state: string;
  slots: number;
  running: number;
  silentFor: number;
  upFor: number;
}

export async function readStatus({ pool }: ClusterDatabase): Promise<ClusterStatus> {
  const [workers, queue, runs] = await Promise.all([
    pool.query<Record<keyof WorkerStatus, string>>(
      `SELECT w.id, w.host, w.version, w.state, w.slots, ${ms("beat")} AS "silentFor", ${ms("started")} AS "upFor",
         (SELECT count(*) FROM ${SCHEMA}.jobs j WHERE j.status = 'running' AND j.worker = w.id) AS running
       FROM ${SCHEMA}.workers w ORDER BY w.started`,
    ),
    pool.query<Record<keyof ClusterStatus["queue"], string | null>>(
      `SELECT count(*) FILTER (WHERE due <= now() AND waits IS NULL) AS depth,
         ${ms("min(due) FILTER (WHERE due <= now() AND waits IS NULL)")} AS "oldestWait",
         count(*) FILTER (WHERE waits IS NOT NULL) AS limited, count(*) FILTER (WHERE due > now()) AS delayed
       FROM ${SCHEMA}.jobs WHERE status = 'pending'`,
    ),
    pool.query<{ status: keyof ClusterStatus["runs"]; count: string }>(
      `SELECT status, count(*) FROM ${SCHEMA}.jobs WHERE status IN ('pending', 'running') GROUP BY status
       UNION ALL
       SELECT status, count(*) FROM ${SCHEMA}.jobs
       WHERE status NOT IN ('pending', 'running') AND updated > $1 GROUP BY status`,
      [Date.now() - HOUR_MS],
    ),
  ]);
  const { depth, oldestWait, limited, delayed } = queue.rows[0]!;
  const counts = Object.fromEntries(runs.rows.map(({ status, count }) => [status, Number(count)]));
  return {
    workers: workers.rows.map(({ id, host, version, state, ...numbers }) => {
      const { slots, running, silentFor, upFor } = numbers;
      const counted = { slots: Number(slots), running: Number(running) };
      return { id, host, version, state, ...counted, silentFor: Number(silentFor), upFor: Number(upFor) };
    }),
    queue: {
      depth: Number(depth),
      oldestWait: Number(oldestWait ?? 0),
      limited: Number(limited),
      delayed: Number(delayed),
    },
    runs: { pending: 0, running: 0, success: 0, error: 0, interrupted: 0, ...counts },
  };
}

const HOUR_MS = 60 * 60 * 1000;

function ms(time: string): string {
  return `round(extract(epoch FROM now() - ${time}) * 1000)`;
}

/** The same in the text that Prometheus reads. */
export function prometheusText({ workers, queue, runs }: ClusterStatus): string {
  const alive = workers.filter(({ state }) => state !== "dead");
  const sum = (of: (worker: WorkerStatus) => number): number => alive.reduce((all, one) => all + of(one), 0);
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
    `holdfast_queue_depth ${queue.depth}`,
    ...gauge("queue_oldest_wait_seconds", "How long the oldest of them has waited."),
    `holdfast_queue_oldest_wait_seconds ${queue.oldestWait / 1000}`,
    ...gauge("queue_limited", "Runs that wait for the end of another, by a limit."),
    `holdfast_queue_limited ${queue.limited}`,
    ...gauge("queue_delayed", "Runs that are for later, or to be tried again."),
    `holdfast_queue_delayed ${queue.delayed}`,
  ];
  return `${lines.join("\n")}\n`;
}

function gauge(name: string, help: string): string[] {
  return [`# HELP holdfast_${name} ${help}`, `# TYPE holdfast_${name} gauge`];
}
