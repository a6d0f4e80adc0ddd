import {
  ANSWER_MAX_AGE_MS,
  editWithdrawn,
  toLetter,
  type Letter,
  type LetterRow,
  type Mailbox,
} from "../store/index.ts";
import { EDITS, toText, type Connection } from "./database/index.ts";

/** The mailbox of a thread in a SQLite file. */
export class SqliteMailbox implements Mailbox {
  readonly #connection: Connection;
  readonly #thread: number;

  constructor(connection: Connection, thread: number) {
    this.#connection = connection;
    this.#thread = thread;
  }

  /** The threads whose mailbox has a letter without an answer. */
  static threads(connection: Connection): Set<string> {
    const sql =
      "SELECT CAST(t.id AS BLOB) AS id FROM edits e JOIN threads t ON t.key = e.thread WHERE e.outcome IS NULL";
    return new Set(connection.all(sql).map(({ id }) => toText(id)));
  }

  async post(content: unknown): Promise<number> {
    const row = { thread: this.#thread, at: Date.now(), content: JSON.stringify(content) };
    return this.#connection.transaction(() => {
      const sql = "INSERT INTO edits (thread, at, content) VALUES (?, ?, ?)";
      const { id } = this.#connection.run(sql, [row.thread, row.at, row.content]);
      EDITS.put(this.#connection, { id, ...row, begun: null, outcome: null });
      return id;
    });
  }

  async waiting(): Promise<Letter[]> {
    const rows = EDITS.all(this.#connection, "WHERE thread = ? AND outcome IS NULL ORDER BY edits.id", [
      this.#thread,
    ]);
    return rows.map(toLetter);
  }

  async begin(id: number, begun: unknown): Promise<void> {
    this.#change(id, (row) => {
      if (!row || row.outcome !== null) throw editWithdrawn();
      return { ...row, begun: JSON.stringify(begun) };
    });
  }

  async answer(id: number, outcome: unknown): Promise<void> {
    this.#change(id, (row) => row && { ...row, outcome: JSON.stringify(outcome) });
    const old = [this.#thread, Date.now() - ANSWER_MAX_AGE_MS];
    this.#connection.run("DELETE FROM edits WHERE thread = ? AND at < ? AND outcome IS NOT NULL", old);
  }

  async fetch(id: number): Promise<unknown> {
    const row = this.#find(id);
    if (!row) throw editWithdrawn();
    if (row.outcome === null) return undefined;
    this.#connection.run("DELETE FROM edits WHERE id = ?", [id]);
    return JSON.parse(row.outcome) as unknown;
  }

  async withdraw(id: number): Promise<boolean> {
    const sql = "DELETE FROM edits WHERE id = ? AND begun IS NULL AND outcome IS NULL";
    return this.#connection.run(sql, [id]).changes > 0;
  }

  #find(id: number): LetterRow | undefined {
    return EDITS.get(this.#connection, "WHERE id = ? AND thread = ?", [id, this.#thread]);
  }

  #change(id: number, change: (row: LetterRow | undefined) => LetterRow | undefined): void {
    this.#connection.transaction(() => {
      const row = change(this.#find(id));
      if (row) EDITS.put(this.#connection, row);
    });
  }
}
