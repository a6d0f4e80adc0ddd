import type { ItemStore } from "./item-store.ts";
import { postgresSaver, postgresStore } from "./postgres.ts";
import { sqliteSaver, sqliteStore } from "./sqlite.ts";
import type { ThreadStore } from "./thread-store.ts";

/** Whether an address is one of a Postgres database rather than a file. */
export function isDatabaseUrl(address: string): boolean {
  return /^postgres(ql)?:\/\//i.test(address);
}

/** Opens the thread store at an address: a SQLite file, or a Postgres database by its URL. */
export async function openStore(address: string): Promise<ThreadStore> {
  return isDatabaseUrl(address) ? postgresSaver(address) : sqliteSaver(address);
}

/** Opens LangGraph's store at an address, which may be that of a thread store. */
export async function openItems(address: string): Promise<ItemStore> {
  return isDatabaseUrl(address) ? postgresStore(address) : sqliteStore(address);
}
