import type Database from "libsql";
import { HarnessError } from "../errors.ts";

export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, unknown>;

/** How long a writer waits for another process's transaction. Ours last milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/** One SQLite connection. Every call is synchronous, and so happens in the order it was made. */
export class Connection {
  readonly path: string;
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  private constructor(path: string, database: Database.Database) {
    this.path = path;
    this.#database = database;
  }

  static async open(path: string): Promise<Connection> {
    const Libsql = await loadLibsql();
    try {
      return new Connection(path, new Libsql(path, { timeout: BUSY_TIMEOUT_MS }));
    } catch (error) {
      throw toHarnessError(path, error);
    }
  }

  /** Runs statements that have no parameters and give no rows. */
  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  all(sql: string, params: SqlValue[] = []): Row[] {
    return this.#guard(() => this.#prepare(sql).all(params) as Row[]);
  }

  get(sql: string, params: SqlValue[] = []): Row | undefined {
    return this.#guard(() => this.#prepare(sql).get(params) as Row | undefined);
  }

  /** Returns the row id of an insert and how many rows changed. */
  run(sql: string, params: SqlValue[] = []): { id: number; changes: number } {
    const { lastInsertRowid, changes } = this.#guard(() => this.#prepare(sql).run(params));
    return { id: Number(lastInsertRowid), changes };
  }

  /** All or nothing. Takes the write lock at once, so that what was read inside still holds when it is written. */
  transaction<T>(work: () => T): T {
    this.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.exec("COMMIT");
      return result;
    } catch (error) {
      // SQLite itself rolls back after some failures, such as a full disk.
      if (this.#database.inTransaction) this.exec("ROLLBACK");
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#database.open;
  }

  close(): void {
    this.#statements.clear();
    if (this.isOpen) this.#database.close();
  }

  // libsql ends the whole process when a buffer is passed as the only argument: parameters always go in an array.
  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  #guard<T>(work: () => T): T {
    if (!this.isOpen) throw new HarnessError("storage-failed", `${this.path} was closed.`);
    try {
      return work();
    } catch (error) {
      throw toHarnessError(this.path, error);
    }
  }
}

async function loadLibsql(): Promise<typeof Database> {
  try {
    return (await import("libsql")).default;
  } catch (cause) {
    throw new HarnessError(
      "missing-package",
      "Storing threads in SQLite needs the package libsql. Install it with: npm install libsql",
      { cause },
    );
  }
}

/** An error of SQLite in words; the cause keeps the original. */
export function toHarnessError(path: string, cause: unknown): HarnessError {
  const { code = "", message } = cause as { code?: string; message: string };
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return corrupt(path, message, { cause });
  const hint = code.startsWith("SQLITE_BUSY") ? " Another process kept it locked; try again." : "";
  return new HarnessError("storage-failed", `${path} could not be used: ${message}.${hint}`, { cause });
}

export function corrupt(path: string, what: string, options?: ErrorOptions): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${path} cannot be read as a Holdfast thread store: ${what}. It was left as it is; move it away or restore a copy.`,
    options,
  );
}
