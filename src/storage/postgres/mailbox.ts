import {
  ANSWER_MAX_AGE_MS,
  editWithdrawn,
  toLetter,
  type Letter,
  type LetterRow,
  type Mailbox,
} from "../store/index.ts";
import { CheckedTable, type Database } from "./database/index.ts";

export const EDITS = new CheckedTable<LetterRow>("edits", [
  "id",
  "thread",
  "at",
  "content",
  "begun",
  "outcome",
]);

/** The mailbox of a thread in Postgres. */
export class PostgresMailbox implements Mailbox {
  readonly #database: Database;
  readonly #thread: number;
  readonly #table: string;

  constructor(database: Database, thread: number) {
    this.#database = database;
    this.#thread = thread;
    this.#table = `${database.schema}.edits`;
  }

  /** The threads whose mailbox has a letter without an answer. */
  static async threads(database: Database): Promise<ReadonlySet<string>> {
    const { schema } = database;
    const rows = await database.query(
      `SELECT DISTINCT t.id FROM ${schema}.edits e JOIN ${schema}.threads t ON t.key = e.thread WHERE e.outcome IS NULL`,
    );
    return new Set(rows.map(({ id }) => id as string));
  }

  async post(content: unknown): Promise<number> {
    const [next] = await this.#database.query("SELECT nextval(pg_get_serial_sequence($1, 'id')) AS id", [
      this.#table,
    ]);
    const id = next!["id"] as number;
    const at = Date.now();
    const row = {
      id,
      thread: this.#thread,
      at,
      content: JSON.stringify(content),
      begun: null,
      outcome: null,
    };
    await this.#database.query(
      `INSERT INTO ${this.#table} (id, thread, at, content, seal) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
      [id, row.thread, at, row.content, EDITS.checksum(row)],
    );
    return id;
  }

  async waiting(): Promise<Letter[]> {
    const rows = await this.#database.query(
      `SELECT * FROM ${this.#table} WHERE thread = $1 AND outcome IS NULL ORDER BY id`,
      [this.#thread],
    );
    return rows.map((row) => toLetter(EDITS.open(row, this.#database)));
  }

  async begin(id: number, begun: unknown): Promise<void> {
    const row = await this.#find(id);
    if (!row || row.outcome !== null) throw editWithdrawn();
    // It may be withdrawn between the two.
    if (!(await this.#change({ ...row, begun: JSON.stringify(begun) }))) throw editWithdrawn();
  }

  async answer(id: number, outcome: unknown): Promise<void> {
    const row = await this.#find(id);
    if (row) await this.#change({ ...row, outcome: JSON.stringify(outcome) });
    await this.#database.query(
      `DELETE FROM ${this.#table} WHERE thread = $1 AND at < $2 AND outcome IS NOT NULL`,
      [this.#thread, Date.now() - ANSWER_MAX_AGE_MS],
    );
  }

  async fetch(id: number): Promise<unknown> {
    const row = await this.#find(id);
    if (!row) throw editWithdrawn();
    if (row.outcome === null) return undefined;
    await this.#database.query(`DELETE FROM ${this.#table} WHERE id = $1`, [id]);
    return JSON.parse(row.outcome) as unknown;
  }

  async withdraw(id: number): Promise<boolean> {
    const rows = await this.#database.query(
      `DELETE FROM ${this.#table} WHERE id = $1 AND begun IS NULL AND outcome IS NULL RETURNING id`,
      [id],
    );
    return rows.length > 0;
  }

  async #find(id: number): Promise<LetterRow | undefined> {
    const [row] = await this.#database.query(`SELECT * FROM ${this.#table} WHERE id = $1 AND thread = $2`, [
      id,
      this.#thread,
    ]);
    return row && EDITS.open(row, this.#database);
  }

  async #change(row: LetterRow): Promise<boolean> {
    const rows = await this.#database.query(
      `UPDATE ${this.#table} SET begun = $2, outcome = $3, seal = $4 WHERE id = $1 RETURNING id`,
      [row.id, row.begun, row.outcome, EDITS.checksum(row)],
    );
    return rows.length > 0;
  }
}
