import { HarnessError } from "../../../errors.ts";
import type { Database, Row } from "./database.ts";
import { migrations } from "./schema.ts";

/**
 * Creates or upgrades the tables. Of processes that start at once, one does and the others wait. Throws
 * `storage-version` for tables of a newer Holdfast.
 */
export async function migrate(database: Database): Promise<void> {
  const { schema, address } = database;
  const steps = migrations(schema);
  const table = `${schema}.format`;
  // A user with read access only needs no migration of an up-to-date database.
  const [{ there } = {}] = await database.query(`SELECT to_regclass($1) IS NOT NULL AS there`, [table]);
  if (there && formatIn(await database.query(`SELECT version FROM ${table}`)) === steps.length) return;
  await database.transaction(async (query) => {
    await query("SELECT pg_advisory_xact_lock(hashtext($1))", [`holdfast ${schema}`]);
    await query(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await query(`CREATE TABLE IF NOT EXISTS ${table} (version int NOT NULL)`);
    const format = formatIn(await query(`SELECT version FROM ${table}`));
    if (format > steps.length) {
      throw new HarnessError(
        "storage-version",
        `${address.shown} was written by a newer Holdfast (format ${format}; this one reads ${steps.length}). Update Holdfast, or use another database.`,
      );
    }
    for (const step of steps.slice(format)) await query(step);
    await query(`DELETE FROM ${table}`);
    await query(`INSERT INTO ${table} VALUES ($1)`, [steps.length]);
  });
}

function formatIn([row]: Row[]): number {
  return (row?.["version"] as number | undefined) ?? 0;
}
