import type { RunRecord, RunStatus } from "../../../storage/index.ts";
import type { Transaction } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";

/** A way to stop a run from outside. */
export type Stop = "interrupt" | "rollback";

/** A run as the cluster keeps it. */
export interface Job extends RunRecord {
  queue: string;
  /** The keys of limits that hold for the run, such as `tenant:acme`. */
  keys: string[];
  worker?: string;
  stop?: Stop;
  /** Seconds until it may begin. */
  dueIn: number;
  /** Whether it was taken from a worker that died. */
  isTakenOver?: boolean;
}

type Column = "status" | "worker" | "attempt" | "stop" | "reason" | "waits" | "woken";

/** Uses the clock, because the transaction may have waited since its start for the one that made the run. */
const DUE_IN = "extract(epoch FROM due - clock_timestamp())::float8";
export const IS_DUE = `${DUE_IN} <= 0`;

/** Writes columns of a run. */
export async function change(
  tx: Transaction,
  id: string,
  columns: Partial<Record<Column, unknown>>,
): Promise<void> {
  const names = Object.keys(columns);
  const set = names.map((name, at) => `${name} = $${at + 3}`).join(", ");
  const values = Object.values(columns);
  await tx.query(`UPDATE ${SCHEMA}.jobs SET updated = $2, ${set} WHERE id = $1`, [id, Date.now(), ...values]);
}

/** The runs that a condition holds for, in the order in which they were asked for. */
export async function jobsWhere(
  tx: Transaction,
  where: string,
  values: unknown[],
  order = "seq",
): Promise<Job[]> {
  const { rows } = await tx.query<Row>(
    `SELECT *, ${DUE_IN} AS due_in FROM ${SCHEMA}.jobs WHERE ${where} ORDER BY ${order}`,
    values,
  );
  return rows.map(toJob);
}

interface Row {
  id: string;
  thread: string;
  status: string;
  created: string;
  updated: string;
  attempt: number;
  base: string | null;
  request: string;
  queue: string;
  keys: string[];
  worker: string | null;
  stop: string | null;
  reason: string | null;
  due_in: number;
}

function toJob(row: Row): Job {
  const { id, thread, status, created, updated, attempt, base, request, queue, keys, worker, stop, reason } =
    row;
  return {
    id,
    thread,
    status: status as RunStatus,
    createdAt: Number(created),
    updatedAt: Number(updated),
    attempt,
    ...(base !== null && { base }),
    request: JSON.parse(request) as unknown,
    queue,
    keys,
    ...(worker !== null && { worker }),
    ...(stop !== null && { stop: stop as Stop }),
    ...(reason !== null && { reason }),
    dueIn: row.due_in,
  };
}
