import type { DBOSClient } from "@dbos-inc/dbos-sdk";
import type { GlobalLogger } from "@dbos-inc/dbos-sdk/internal/telemetry/logs";
import { escapeLiteral, Pool, type ClientBase, type PoolClient } from "pg";
import { HarnessError } from "../../../errors.ts";
import { readAddress } from "../../../storage/postgres/database/index.ts";
import { areTablesCurrent, hasTables, migrateTables } from "./migrate.ts";
import { MIGRATION_LOCK } from "./schema.ts";
import { CHANNELS, Signals, type Channel } from "./signals.ts";

/** The client of one transaction. */
export type Transaction = Pick<ClientBase, "query">;

/**
 * Our application in DBOS. All versions of Holdfast have the same version there: DBOS gives a workflow only to workers of
 * its own version, so turns of an old version would wait for ever once its last worker has gone. A turn only names a
 * thread, so any version can take it.
 */
export const APPLICATION = { name: "holdfast", version: "1" } as const;

/** The most attempts of a transaction that the database aborts. */
const MOST_TRIES = 5;

/** The size of the connection pool; the store has its own. */
const CONNECTIONS = 10;

/** The database that servers and workers share: one pool, one listener, and DBOS's client. */
export class ClusterDatabase {
  readonly url: string;
  readonly pool: Pool;
  readonly signals: Signals;
  readonly client: DBOSClient;

  private constructor(url: string, pool: Pool, signals: Signals, client: DBOSClient) {
    this.url = url;
    this.pool = pool;
    this.signals = signals;
    this.client = client;
  }

  /** Whether a database has the tables of a cluster. Creates nothing. Throws `storage-failed` without a database. */
  static async isIn(address: string): Promise<boolean> {
    const { url, shown } = readAddress(address);
    const pool = new Pool({ connectionString: url, max: 1 });
    pool.on("error", () => {});
    try {
      return await hasTables(pool);
    } catch (error) {
      throw unusable(shown, error);
    } finally {
      await pool.end();
    }
  }

  /**
   * Creates missing tables. Throws `storage-failed` without a database, and `storage-version` if the tables are those of
   * a newer Holdfast.
   */
  static async open(address: string): Promise<ClusterDatabase> {
    const { url, shown } = readAddress(address);
    const { DBOSClient: Client } = await import("@dbos-inc/dbos-sdk");
    // The public `DBOS.migrate` writes to standard output.
    const system = await import("@dbos-inc/dbos-sdk/internal/system_database");
    const pool = new Pool({
      connectionString: url,
      application_name: "holdfast queue",
      max: CONNECTIONS,
      keepAlive: true,
    });
    // The pool replaces an idle connection that breaks.
    pool.on("error", () => {});
    try {
      const isReady =
        (await areTablesCurrent(pool, shown)) &&
        (await system.verifySystemDatabase(url, SILENT as GlobalLogger, pool).then(
          () => true,
          () => false,
        ));
      if (!isReady) {
        await alone(pool, async () => {
          await migrateTables(pool, shown);
          await system.migrateSystemDatabase(url, SILENT as GlobalLogger);
        });
      }
      const client = await Client.create({
        systemDatabaseUrl: url,
        systemDatabasePool: pool,
        applicationName: APPLICATION.name,
        logger: SILENT,
      });
      // Last: it would not be closed if a later step failed.
      const signals = new Signals(url);
      await signals.open();
      return new ClusterDatabase(url, pool, signals, client);
    } catch (error) {
      await pool.end().catch(() => {});
      if (error instanceof HarnessError) throw error;
      throw unusable(shown, error);
    }
  }

  /**
   * Does work in a transaction; with a thread named, under the lock of that thread. Retried if the database aborts it
   * because of a conflict.
   */
  async transaction<T>(thread: string | undefined, work: (tx: PoolClient) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#transaction(thread, work);
      } catch (error) {
        if (attempt === MOST_TRIES || !isConflict(error)) throw error;
      }
    }
  }

  async #transaction<T>(thread: string | undefined, work: (tx: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      const key = thread === undefined ? undefined : `hashtextextended(${escapeLiteral(thread)}, 7)`;
      await client.query(key ? `BEGIN; SELECT pg_advisory_xact_lock(${key})` : "BEGIN");
      const result = await work(client);
      await client.query("COMMIT");
      client.release();
      return result;
    } catch (error) {
      // A connection that cannot be rolled back is closed.
      await client.query("ROLLBACK").then(
        () => client.release(),
        () => client.release(true),
      );
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.signals.close();
    await this.client.destroy();
    await this.pool.end();
  }
}

function unusable(shown: string, cause: unknown): HarnessError {
  const { message, code } = cause as { message: string; code?: string };
  const hint =
    code === "42501"
      ? " Its user lacks a right: let holdfast migrate make the tables with one that may, and --role name this one."
      : "";
  return new HarnessError("storage-failed", `${shown} cannot be used: ${message}.${hint}`, { cause });
}

/** PostgreSQL's class 40: a deadlock or a serialization failure. */
function isConflict(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && code.startsWith("40");
}

/**
 * Does work under the migration lock. The lock is polled: DBOS creates an index concurrently, which waits for the end of
 * every running statement, and so for one that would wait for the lock.
 */
async function alone(pool: Pool, work: () => Promise<void>): Promise<void> {
  const holder = await pool.connect();
  try {
    const take = "SELECT pg_try_advisory_lock($1) AS taken";
    while (!(await holder.query<{ taken: boolean }>(take, [MIGRATION_LOCK])).rows[0]!.taken) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await work();
  } finally {
    // Closing the connection releases the lock.
    holder.release(true);
  }
}

export async function tell(db: Transaction, channel: Channel, payload: string): Promise<void> {
  await db.query("SELECT pg_notify($1, $2)", [CHANNELS[channel], payload]);
}

const nothing = (): void => {};

/** Silences DBOS, which logs about itself only. */
export const SILENT: Pick<GlobalLogger, "info" | "debug" | "warn" | "error"> = {
  info: nothing,
  debug: nothing,
  warn: nothing,
  error: nothing,
};
