import { pathToFileURL } from "node:url";
import type Database from "libsql";
import { HarnessError } from "../../../errors.ts";
import { trackOpenFile } from "./open-files.ts";

export type SqlValue = string | number | null | Uint8Array;
export type Row = Record<string, unknown>;

export const MEMORY = ":memory:";

/** The time that a writer waits for another process's transaction. Ours last milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

export interface ConnectionOptions {
  /** `read`: this connection does not write to the file. `frozen`: no process does, so that no lock is needed. */
  access?: "write" | "read" | "frozen";
  /** The original of a copy, for messages. */
  of?: string;
}

/**
 * One SQLite connection. Every call is synchronous.
 *
 * The file is attached, as `store`, to an empty database in memory: libsql keeps a connection open until all its
 * statements are garbage, and detaching closes the file at once.
 */
export class Connection {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly #database: Database.Database;
  /** Prepared statements by method and text. */
  readonly #statements = new Map<string, Database.Statement>();
  readonly #untrack: () => void;

  private constructor(
    path: string,
    {
      database,
      isReadOnly,
      untrack,
    }: { database: Database.Database; isReadOnly: boolean; untrack: () => void },
  ) {
    this.path = path;
    this.#database = database;
    this.isReadOnly = isReadOnly;
    this.#untrack = untrack;
  }

  static async open(
    path: string,
    { access = "write", of = path }: ConnectionOptions = {},
  ): Promise<Connection> {
    const Libsql = await loadLibsql();
    const database = new Libsql(":memory:", { timeout: BUSY_TIMEOUT_MS });
    try {
      database.prepare("ATTACH ? AS store").run([access === "write" ? path : toUri(path, access)]);
      return new Connection(of, { database, isReadOnly: access !== "write", untrack: trackOpenFile(path) });
    } catch (error) {
      database.close();
      throw toHarnessError(of, error);
    }
  }

  /** Runs statements without parameters and rows. */
  exec(sql: string): void {
    this.#guard(() => this.#database.exec(sql));
  }

  all(sql: string, params: SqlValue[] = []): Row[] {
    return this.#guard(() => this.#prepare("all", sql).all(params) as Row[]);
  }

  get(sql: string, params: SqlValue[] = []): Row | undefined {
    return this.#guard(() => this.#prepare("get", sql).get(params) as Row | undefined);
  }

  /** Returns the row id of an insert and the number of changed rows. */
  run(sql: string, params: SqlValue[] = []): { id: number; changes: number } {
    const { lastInsertRowid, changes } = this.#guard(() => this.#prepare("run", sql).run(params));
    return { id: Number(lastInsertRowid), changes };
  }

  /** Runs a transaction. Takes the write lock at once, so that rows read inside are still valid when others are written. */
  transaction<T>(work: () => T): T {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /** Reads from one snapshot, whatever others write in the meantime. `work` must be synchronous. */
  snapshot<T>(work: () => T): T {
    this.run("BEGIN");
    try {
      return work();
    } finally {
      this.#rollBack();
    }
  }

  /** SQLite itself rolls back after some failures, such as a full disk. */
  #rollBack(): void {
    if (this.#database.inTransaction) this.exec("ROLLBACK");
  }

  /** Whether other connections can see what is in it. */
  get isShared(): boolean {
    return this.path !== MEMORY;
  }

  get isOpen(): boolean {
    return this.#database.open;
  }

  close(): void {
    this.#statements.clear();
    if (!this.isOpen) return;
    try {
      if (this.#database.inTransaction) this.#database.exec("ROLLBACK");
      this.#database.exec("DETACH store");
      this.#untrack();
    } catch {
      // The file is then closed when the connection is garbage-collected.
    } finally {
      this.#database.close();
    }
  }

  // libsql ends the whole process when a buffer is its only argument, so parameters are always passed in an array. And
  // its get() uses the parameters of an all() before it, so each method has its own statements.
  #prepare(method: "all" | "get" | "run", sql: string): Database.Statement {
    const key = `${method} ${sql}`;
    const cached = this.#statements.get(key);
    if (cached) return cached;
    const statement = this.#database.prepare(sql);
    this.#statements.set(key, statement);
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

function toUri(path: string, access: "read" | "frozen"): string {
  const { href } = pathToFileURL(path);
  return `${href}?mode=ro${access === "frozen" ? "&immutable=1" : ""}`;
}

/** SQLite's errors for valid statements on damaged tables. */
const DAMAGED = /^SQLITE_(CORRUPT|NOTADB|ERROR|SCHEMA|CONSTRAINT|MISMATCH|FORMAT|RANGE)/;

/** Converts an error of SQLite; `cause` is the original. */
function toHarnessError(path: string, cause: unknown): HarnessError {
  const { code = "", message } = cause as { code?: string; message: string };
  if (DAMAGED.test(code)) return corrupt(path, message, { cause });
  const hint = HINTS.find(([start]) => code.startsWith(start))?.[1] ?? "";
  return new HarnessError("storage-failed", `${path} could not be used: ${message}.${hint}`, { cause });
}

const HINTS: readonly [code: string, hint: string][] = [
  ["SQLITE_BUSY", " Another process kept it locked; try again."],
  ["SQLITE_FULL", " Make room on its disk, then try again."],
  ["SQLITE_READONLY", " You may read it, not write to it: copy it to a place of yours."],
];

export function corrupt(path: string, what: string, options?: ErrorOptions): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${path} is damaged, or no Holdfast thread store: ${what}. It was left as it is. holdfast check says all that is wrong, holdfast repair saves what can be saved into a new file.`,
    options,
  );
}
