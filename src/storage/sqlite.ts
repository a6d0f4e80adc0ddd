import { openDatabase } from "./open.ts";
import { SqliteSaver } from "./saver.ts";

/**
 * Opens a thread store, a SQLite file, and creates it with its folders when there is none; `:memory:` is one that
 * lasts as long as the saver. Throws `storage-corrupt` for a file that is damaged or not ours, `storage-version` for
 * one of a newer Holdfast, and leaves both as they are; `missing-package` when `libsql` is not installed.
 */
export async function sqliteSaver(path: string): Promise<SqliteSaver> {
  return new SqliteSaver(await openDatabase(path));
}
