import { openDatabase } from "./sqlite/file/index.ts";
import { SqliteItems, SqliteSaver } from "./sqlite/index.ts";
import { ItemStore } from "./store/index.ts";

/**
 * Opens a thread store in a SQLite file, and creates the file and its folders if there are none; `:memory:` lasts as long
 * as the saver. Throws `storage-corrupt` for a file that is damaged or not a thread store, and `storage-version` for one of
 * a newer Holdfast, and changes neither; `missing-package` when `libsql` is not installed.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { sqliteSaver } from "holdfast/storage";
 *
 * const checkpointer = await sqliteSaver("threads.db");
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", checkpointer });
 * ```
 */
export async function sqliteSaver(path: string): Promise<SqliteSaver> {
  return new SqliteSaver(await openDatabase(path));
}

/**
 * Opens LangGraph's store in a SQLite file, for `storeBackend`, for `createServer` and for graphs that use one. May share a
 * file with threads, also while that is open. Throws as `sqliteSaver` does.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { sqliteStore } from "holdfast/storage";
 *
 * const store = await sqliteStore("memories.db");
 * await store.put(["users", "ann"], "language", { value: "French" });
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", store });
 * ```
 */
export async function sqliteStore(path: string): Promise<ItemStore> {
  return new ItemStore(new SqliteItems(await openDatabase(path)));
}
