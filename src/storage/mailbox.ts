import { HarnessError } from "../errors.ts";
import type { Connection } from "./connection.ts";
import { toText } from "./table.ts";
import { EDITS, type StoredEdit } from "./tables.ts";

/** An answer that nobody has fetched for so long is for somebody who is gone. */
const KEPT_MS = 24 * 60 * 60 * 1000;

/** A letter in a mailbox. */
export interface Letter {
  id: number;
  content: unknown;
  /** What was about to be done for it when that was last heard of. */
  begun?: unknown;
}

/**
 * What other processes ask the one that holds a thread to do, and its answers. Each step is one transaction: whoever
 * is killed, a letter is there or not, begun or not, answered or not.
 */
export class Mailbox {
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

  post(content: unknown): number {
    const row = { thread: this.#thread, at: Date.now(), content: JSON.stringify(content) };
    return this.#connection.transaction(() => {
      const sql = "INSERT INTO edits (thread, at, content) VALUES (?, ?, ?)";
      const { id } = this.#connection.run(sql, [row.thread, row.at, row.content]);
      EDITS.put(this.#connection, { id, ...row, begun: null, outcome: null });
      return id;
    });
  }

  /** The letters that have no answer yet, oldest first. */
  waiting(): Letter[] {
    const rows = EDITS.all(this.#connection, "WHERE thread = ? AND outcome IS NULL ORDER BY edits.id", [
      this.#thread,
    ]);
    return rows.map(({ id, content, begun }) => ({
      id,
      content: JSON.parse(content) as unknown,
      ...(begun !== null && { begun: JSON.parse(begun) as unknown }),
    }));
  }

  /** Notes what is about to be done. Throws `edit-withdrawn` when it is not wanted any more. */
  begin(id: number, begun: unknown): void {
    this.#change(id, (row) => {
      if (!row || row.outcome !== null) throw withdrawn();
      return { ...row, begun: JSON.stringify(begun) };
    });
  }

  answer(id: number, outcome: unknown): void {
    this.#change(id, (row) => row && { ...row, outcome: JSON.stringify(outcome) });
    const old = [this.#thread, Date.now() - KEPT_MS];
    this.#connection.run("DELETE FROM edits WHERE thread = ? AND at < ? AND outcome IS NOT NULL", old);
  }

  /** The answer, which is then taken out; undefined while there is none. Throws `edit-withdrawn`. */
  fetch(id: number): unknown {
    const row = this.#find(id);
    if (!row) throw withdrawn();
    if (row.outcome === null) return undefined;
    this.#connection.run("DELETE FROM edits WHERE id = ?", [id]);
    return JSON.parse(row.outcome) as unknown;
  }

  /** Takes a letter back. Returns false when it is too late. */
  withdraw(id: number): boolean {
    const sql = "DELETE FROM edits WHERE id = ? AND begun IS NULL AND outcome IS NULL";
    return this.#connection.run(sql, [id]).changes > 0;
  }

  #find(id: number): StoredEdit | undefined {
    return EDITS.get(this.#connection, "WHERE id = ? AND thread = ?", [id, this.#thread]);
  }

  #change(id: number, change: (row: StoredEdit | undefined) => StoredEdit | undefined): void {
    this.#connection.transaction(() => {
      const row = change(this.#find(id));
      if (row) EDITS.put(this.#connection, row);
    });
  }
}

function withdrawn(): HarnessError {
  return new HarnessError("edit-withdrawn", "The edit was withdrawn.");
}
