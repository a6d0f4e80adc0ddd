import { Database, migrate, type DatabaseOptions } from "./postgres/database/index.ts";
import { PostgresItems, PostgresSaver } from "./postgres/index.ts";
import { ItemStore } from "./store/index.ts";

/**
 * Opens a thread store in a Postgres database, `postgres://user:password@host/database`, and creates its tables if there
 * are none. TLS follows the URL's `sslmode`, or `PGSSLMODE`, as in libpq: `require` encrypts, `verify-full` also checks the
 * server's certificate against Node's authorities or `sslrootcert`. Throws `storage-failed` when the server cannot be used,
 * and `storage-version` for tables of a newer Holdfast.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { postgresSaver } from "holdfast/storage";
 *
 * const checkpointer = await postgresSaver("postgres://user:password@localhost/agents");
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", checkpointer });
 * ```
 */
export async function postgresSaver(url: string, options: DatabaseOptions = {}): Promise<PostgresSaver> {
  return new PostgresSaver(await openDatabase(url, options));
}

/**
 * Opens LangGraph's store in a Postgres database, for `storeBackend` and for graphs that use one. May share a
 * database with threads. Throws as `postgresSaver` does.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { postgresStore } from "holdfast/storage";
 *
 * const store = await postgresStore("postgres://user:password@localhost/agents");
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", store });
 * ```
 */
export async function postgresStore(url: string, options: DatabaseOptions = {}): Promise<ItemStore> {
  return new ItemStore(new PostgresItems(await openDatabase(url, options)));
}

async function openDatabase(url: string, options: DatabaseOptions): Promise<Database> {
  const database = await Database.of(url, options);
  try {
    await migrate(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
