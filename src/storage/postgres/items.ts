import { NAMESPACE_SEPARATOR, type Items, type Page, type StoredItem } from "../store/index.ts";
import { ITEMS, type Database } from "./database/index.ts";

export class PostgresItems implements Items {
  readonly #database: Database;
  readonly #table: string;

  constructor(database: Database) {
    this.#database = database;
    this.#table = `${database.schema}.items`;
  }

  async find(namespace: string, key: string): Promise<StoredItem | undefined> {
    const [row] = await this.#database.query(
      `SELECT * FROM ${this.#table} WHERE namespace = $1 AND key = $2`,
      [namespace, key],
    );
    return row && ITEMS.open(row, this.#database);
  }

  async put({ namespace, key, value, created: now, updated }: StoredItem): Promise<void> {
    await this.#database.transaction(async (query) => {
      const [existing] = await query(
        `SELECT created FROM ${this.#table} WHERE namespace = $1 AND key = $2 FOR UPDATE`,
        [namespace, key],
      );
      const created = (existing?.["created"] as number | undefined) ?? now;
      const row = { namespace, key, value, created, updated };
      await query(ITEMS.upsert(this.#database.schema), ITEMS.values(row));
    });
  }

  async remove(namespace: string, key: string): Promise<void> {
    const sql = `DELETE FROM ${this.#table} WHERE namespace = $1 AND key = $2`;
    await this.#database.query(sql, [namespace, key]);
  }

  async under(namespace: string, { limit, offset }: Page): Promise<StoredItem[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#table} WHERE $1 = '' OR namespace = $1 OR starts_with(namespace, $1 || '${NAMESPACE_SEPARATOR}')
       ORDER BY created, namespace, key LIMIT $2 OFFSET $3`,
      [namespace, limit ?? null, offset],
    );
    return rows.map((row) => ITEMS.open(row, this.#database));
  }

  async namespaces(): Promise<string[]> {
    const rows = await this.#database.query(`SELECT DISTINCT namespace FROM ${this.#table}`);
    return rows.map((row) => row["namespace"] as string);
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}
