import { isText, threadBusy, toThreadSummary, type ThreadSummary } from "../store/index.ts";
import { THREADS, type Database, type Row } from "./database/index.ts";
import { isAlive, LEASE_COLUMNS, leaseAllows, toLease } from "./leases.ts";

/** The index of threads: their summaries, without reading checkpoints. */
export class Threads {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The number of a thread in the other tables. */
  async key(id: string): Promise<number | undefined> {
    const [row] = await this.#database.query(
      `SELECT key FROM ${this.#database.schema}.threads WHERE id = $1`,
      [id],
    );
    return row?.["key"] as number | undefined;
  }

  /** The threads whose mailbox has a letter without an answer. */
  async withMail(): Promise<Set<string>> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT DISTINCT t.id FROM ${schema}.edits e JOIN ${schema}.threads t ON t.key = e.thread WHERE e.outcome IS NULL`,
    );
    return new Set(rows.map(({ id }) => id as string));
  }

  async list(limit: number, ids?: readonly string[]): Promise<ThreadSummary[]> {
    if (ids)
      return this.#select("WHERE t.id = ANY($2) ORDER BY t.used DESC LIMIT $1", [limit, ids.filter(isText)]);
    return this.#select("ORDER BY t.used DESC LIMIT $1", [limit]);
  }

  async get(id: string): Promise<ThreadSummary | undefined> {
    return (await this.#select("WHERE t.id = $1", [id]))[0];
  }

  async #select(rest: string, values: unknown[]): Promise<ThreadSummary[]> {
    const { schema } = this.#database;
    const rows = await this.#database.query(
      `SELECT t.*, to_jsonb(l) AS lease FROM ${schema}.threads t LEFT JOIN LATERAL
        (SELECT ${LEASE_COLUMNS} FROM ${schema}.leases WHERE thread = t.id AND holder IS NOT NULL) l ON TRUE ${rest}`,
      values,
    );
    return rows.map((row) => this.#summary(row));
  }

  #summary(row: Row): ThreadSummary {
    const lease = row["lease"] as Row | null;
    return toThreadSummary(THREADS.open(row, this.#database), lease !== null && isAlive(toLease(lease)));
  }

  /** Deletes a thread. Throws `thread-busy` when another process holds it. */
  async remove(id: string, token: string | undefined): Promise<void> {
    const { schema } = this.#database;
    await this.#database.transaction(async (query) => {
      await query(`INSERT INTO ${schema}.leases (thread) VALUES ($1) ON CONFLICT DO NOTHING`, [id]);
      const [lease] = await query(
        `SELECT ${LEASE_COLUMNS}, ${leaseAllows("$2::bigint")} AS free FROM ${schema}.leases WHERE thread = $1 FOR UPDATE`,
        [id, token ?? null],
      );
      const holder = lease!["holder"] === null ? undefined : toLease(lease!);
      const isFree = lease!["free"] === true || (token === undefined && holder && !isAlive(holder));
      if (!isFree) throw threadBusy(id, holder);
      const [thread] = await query(`DELETE FROM ${schema}.threads WHERE id = $1 RETURNING key`, [id]);
      for (const table of thread ? ["writes", "checkpoints", "heads", "blobs", "edits"] : []) {
        await query(`DELETE FROM ${schema}.${table} WHERE thread = $1`, [thread!["key"]]);
      }
      for (const table of ["hosted", "runs"])
        await query(`DELETE FROM ${schema}.${table} WHERE thread = $1`, [id]);
      if (token === undefined) await query(`DELETE FROM ${schema}.leases WHERE thread = $1`, [id]);
    });
  }
}
