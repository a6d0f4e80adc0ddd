import { escapeIdentifier, type Pool } from "pg";
import { HarnessError } from "../../../errors.ts";
import { SCHEMA, STEPS } from "./schema.ts";

/**
 * Creates or updates the tables of the cluster. The caller holds the migration lock. Throws `storage-version` for tables
 * of a newer Holdfast. `shown` names the database in messages.
 */
export async function migrateTables(pool: Pool, shown: string): Promise<void> {
  const table = `${SCHEMA}.cluster_format`;
  await pool.query(
    `CREATE SCHEMA IF NOT EXISTS ${SCHEMA}; CREATE TABLE IF NOT EXISTS ${table} (version int NOT NULL)`,
  );
  const format = await formatIn(pool, shown);
  if (format === STEPS.length) return;
  const steps = STEPS.slice(format).join("");
  // A query without parameters is one transaction.
  await pool.query(`${steps}; DELETE FROM ${table}; INSERT INTO ${table} VALUES (${STEPS.length})`);
}

/** Whether no migration is needed, so that a role without the right to create tables can continue. Throws as above. */
export async function areTablesCurrent(pool: Pool, shown: string): Promise<boolean> {
  return (await hasTables(pool)) && (await formatIn(pool, shown)) === STEPS.length;
}

/** Whether the tables exist, of whatever version. */
export async function hasTables(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ there: boolean }>(
    `SELECT to_regclass('${SCHEMA}.cluster_format') IS NOT NULL AS there`,
  );
  return rows[0]?.there === true;
}

async function formatIn(pool: Pool, shown: string): Promise<number> {
  const { rows } = await pool.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.cluster_format`);
  const format = rows[0]?.version ?? 0;
  if (format <= STEPS.length) return format;
  throw new HarnessError(
    "storage-version",
    `${shown} is shared with a newer Holdfast (format ${format} of the queue; this one knows ${STEPS.length}). Update Holdfast, or use another database.`,
  );
}

/** Grants a role the use of all tables, but not their creation. Throws `storage-failed`. */
export async function grantRights(pool: Pool, role: string): Promise<void> {
  const [to, schemas] = [escapeIdentifier(role), `${SCHEMA}, dbos`];
  try {
    await pool.query(
      `GRANT USAGE ON SCHEMA ${schemas} TO ${to};
       GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schemas} TO ${to};
       GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA ${schemas} TO ${to}`,
    );
  } catch (cause) {
    const { message } = cause as Error;
    throw new HarnessError("storage-failed", `${role} could not be given its rights: ${message}.`, { cause });
  }
}
