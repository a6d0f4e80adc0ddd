import { setTimeout as sleep } from "node:timers/promises";
import type { Pool, PoolClient } from "pg";
import { HarnessError } from "../../../errors.ts";
import { readAddress, type Address } from "./address.ts";

export type Row = Record<string, unknown>;

/** Options of a PostgreSQL store. */
export interface DatabaseOptions {
  /** The schema of the tables; it is created when it does not exist. Default `holdfast`. */
  schema?: string;
  /** The maximum number of connections. Default 10; one more while threads are held. */
  poolSize?: number;
  /** The time to wait for a server that does not answer, in milliseconds. Default 30,000. */
  patience?: number;
}

/** A statement; one with a name is prepared once per connection. */
export interface Statement {
  text: string;
  values?: unknown[];
  name?: string;
}

const POOL_SIZE = 10;
const PATIENCE_MS = 30_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 1000];
/** The longest wait for a connection, unless the address sets one. */
const CONNECT_MS = 10_000;
/** The time after which a query without an answer is given up. */
const SILENCE_MS = 60_000;

/**
 * A Postgres database. After a lost connection the statement is sent again on another one, so every statement must be
 * idempotent.
 */
export class Database {
  readonly address: Address;
  readonly schema: string;
  readonly #pool: Pool;
  readonly #patience: number;
  #isOpen = true;

  private constructor(address: Address, pool: Pool, { schema = "holdfast", patience }: DatabaseOptions) {
    this.address = address;
    this.schema = `"${schema}"`;
    this.#pool = pool;
    this.#patience = patience ?? PATIENCE_MS;
  }

  /** Does not connect: the first statement does. */
  static async of(url: string, options: DatabaseOptions = {}): Promise<Database> {
    const { schema = "holdfast", poolSize = POOL_SIZE } = options;
    if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
      throw new HarnessError("invalid-options", `schema: use small letters, digits and _, not ${schema}.`);
    }
    if (!Number.isInteger(poolSize) || poolSize < 1) {
      throw new HarnessError("invalid-options", `poolSize: use a whole number from 1 on, not ${poolSize}.`);
    }
    const address = readAddress(url);
    const { Pool: PgPool, types } = (await import("pg")).default;
    const pool = new PgPool({
      connectionString: address.url,
      max: poolSize,
      application_name: "holdfast",
      keepAlive: true,
      connectionTimeoutMillis: address.connectMs ?? CONNECT_MS,
      query_timeout: SILENCE_MS,
      allowExitOnIdle: true,
      types: {
        getTypeParser: (type, format) =>
          // All values in our tables are small enough to be numbers.
          type === types.builtins.INT8 ? Number : types.getTypeParser(type, format),
      },
    });
    // The pool replaces a connection that is lost while idle.
    pool.on("error", () => {});
    pool.on("connect", (client) => void client.on("error", () => {}));
    return new Database(address, pool, options);
  }

  /** Runs one statement, which is a transaction. */
  async query(statement: Statement | string, values?: unknown[]): Promise<Row[]> {
    const query: Statement =
      typeof statement === "string" ? { text: statement, values: values ?? [] } : statement;
    return this.#retry(async () => (await this.#pool.query<Row>(query)).rows);
  }

  async transaction<T>(
    work: (query: (sql: string, values?: unknown[]) => Promise<Row[]>) => Promise<T>,
  ): Promise<T> {
    return this.#retry(async () => {
      const client = await this.#pool.connect();
      try {
        await client.query("BEGIN");
        const result = await work(async (sql, values) => (await client.query<Row>(sql, values)).rows);
        await client.query("COMMIT");
        client.release();
        return result;
      } catch (error) {
        await rollBack(client, error);
        throw error;
      }
    });
  }

  /** Retries transient errors until `patience` has passed. Throws a `HarnessError`. */
  async #retry<T>(work: () => Promise<T>): Promise<T> {
    let since: number | undefined;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      if (!this.#isOpen) throw new HarnessError("storage-failed", `${this.address.shown} was closed.`);
      try {
        return await work();
      } catch (error) {
        since ??= performance.now();
        const isLate = performance.now() - since + pause > this.#patience;
        if (!isTransient(error) || isLate) throw this.#toHarnessError(error);
      }
      await sleep(pause);
    }
  }

  #toHarnessError(cause: unknown): Error {
    if (cause instanceof HarnessError) return cause;
    const { shown, redact } = this.address;
    const { message, code } = cause as { message: string; code?: string };
    const text = redact(message || String(code));
    const hint = isTransient(cause)
      ? " It was waited for; look whether the server runs and can be reached, then try again."
      : (HINTS[code ?? ""] ?? "");
    return new HarnessError("storage-failed", `${shown} could not be used: ${text}.${hint}`, { cause });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#pool.end().catch(() => {});
  }
}

async function rollBack(client: PoolClient, error: unknown): Promise<void> {
  const isLost = await client.query("ROLLBACK").then(
    () => false,
    () => true,
  );
  client.release(isLost ? (error as Error) : undefined);
}

/** Lost connections, a server that starts or stops or has no connection left, and conflicts of transactions. */
const TRANSIENT =
  /^(08...|57P0[123]|53300|40001|40P01|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/;
const LOST =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout)/;

function isTransient(error: unknown): boolean {
  const { code, message = "", errors } = error as { code?: string; message?: string; errors?: unknown[] };
  // A name with several addresses fails with an error for each.
  if (Array.isArray(errors) && errors.length > 0) return errors.every(isTransient);
  return TRANSIENT.test(code ?? "") || LOST.test(message);
}

/** Whether an error means that the server did not answer. */
export function isUnreachable(error: unknown): boolean {
  return (
    error instanceof HarnessError && error.code === "storage-failed" && isTransient(error.cause ?? error)
  );
}

const HINTS: Record<string, string> = {
  "28P01": " Look at the user and the password in the address.",
  "28000": " Look at the user in the address, and at what the server lets in.",
  "3D000": " Make the database first: createdb.",
  "42501":
    " The user of the address lacks a right. Let holdfast migrate make the tables with a user that may, and --role name the one of this address.",
  ENOTFOUND: " Look at the name of the server in the address.",
};
