import { openDatabase } from "./sqlite/file/index.ts";
import { SqliteItems, SqliteSaver } from "./sqlite/index.ts";
import { ItemStore } from "./store/index.ts";

/**
 * Opens a thread store, a SQLite file, and creates it with its folders when there is none; `:memory:` is one that
 * lasts as long as the saver. Throws `storage-corrupt` for a file that is damaged or not a thread store, `storage-version` for
 * one of a newer Holdfast, and leaves both as they are; `missing-package` when `libsql` is not installed.
 */
export async function sqliteSaver(path: string): Promise<SqliteSaver> {
  return new SqliteSaver(await openDatabase(path));
}

/**
 * Opens LangGraph's store in a SQLite file, for `storeBackend`, for `createServer` and for graphs that use one. Throws as
 * `sqliteSaver` does, and may have the same file, also while that is open.
 */
export async function sqliteStore(path: string): Promise<ItemStore> {
  return new ItemStore(new SqliteItems(await openDatabase(path)));
}
