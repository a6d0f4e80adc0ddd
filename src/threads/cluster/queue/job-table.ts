import type { RunRecord } from "../../../storage/index.ts";
import type { Transaction } from "../database/database.ts";
import { SCHEMA } from "../database/schema.ts";

/** A way to stop a run from outside. */
export type Stop = "interrupt" | "rollback";

/** A run in the table of the cluster. */
export interface Job extends RunRecord {
  queue: string;
  /** The keys of its limits, such as `tenant:acme`. */
  keys: string[];
  worker?: string;
  stop?: Stop;
  /** Seconds until it may start. */
  dueIn: number;
  /** Whether it was taken over from a dead worker. */
  isTakenOver?: boolean;
}

type Column = "status" | "worker" | "attempt" | "stop" | "reason" | "waits" | "woken";

/** By the clock, not by `now()`: the transaction may have waited for the one that inserted the run. */
const DUE_IN = "extract(epoch FROM due - clock_timestamp())::float8";
export const IS_DUE = `${DUE_IN} <= 0`;

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

const COLUMNS = `id, thread, status, created::float8 AS "createdAt", updated::float8 AS "updatedAt", attempt, base,
  request::json AS request, queue, keys, worker, stop, reason, ${DUE_IN} AS "dueIn"`;

/** The runs that match a condition, by default in the order of their requests. */
export async function jobsWhere(
  tx: Transaction,
  where: string,
  values: unknown[],
  order = "seq",
): Promise<Job[]> {
  const sql = `SELECT ${COLUMNS} FROM ${SCHEMA}.jobs WHERE ${where} ORDER BY ${order}`;
  const { rows } = await tx.query<Record<string, unknown>>(sql, values);
  return rows.map((row) => {
    const entries = Object.entries(row).filter(([, value]) => value !== null);
    return Object.fromEntries(entries) as unknown as Job;
  });
}
