import type { Pool } from "pg";
import { HarnessError } from "../../../errors.ts";
import { SCHEMA, STEPS } from "./schema.ts";

/**
 * Makes the tables of the cluster, or brings them up to date. Not to be done by two processes at once. Throws
 * `storage-version` for tables of a newer Holdfast; `shown` is how the database is called.
 */
export async function migrateTables(pool: Pool, shown: string): Promise<void> {
  const table = `${SCHEMA}.cluster_format`;
  await pool.query(
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}; CREATE TABLE IF NOT EXISTS ${table} (version int NOT NULL)`,
  );
  const { rows } = await pool.query<{ version: number }>(`SELECT version FROM ${table}`);
  const format = rows[0]?.version ?? 0;
  if (format > STEPS.length) {
    throw new HarnessError(
      "storage-version",
      `${shown} is shared with a newer Holdfast (format ${format} of the queue; this one knows ${STEPS.length}). Update Holdfast, or use another database.`,
    );
  }
  if (format === STEPS.length) return;
  const steps = STEPS.slice(format).join("");
  // Without values these are one transaction.
  await pool.query(`${steps}; DELETE FROM ${table}; INSERT INTO ${table} VALUES (${STEPS.length})`);
}
