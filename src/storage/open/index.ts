import type { ItemStore, ThreadStore } from "../store/index.ts";

/** Whether an address is a Postgres URL, and not a file. */
export function isDatabaseUrl(address: string): boolean {
  return /^postgres(ql)?:\/\//i.test(address);
}

// The stores load LangChain, so they are imported on demand: most commands need only the address.

/** Opens the thread store at an address: a SQLite file, or a Postgres database by its URL. */
export async function openStore(address: string): Promise<ThreadStore> {
  if (isDatabaseUrl(address)) return (await import("../postgres.ts")).postgresSaver(address);
  return (await import("../sqlite.ts")).sqliteSaver(address);
}

/** Opens LangGraph's store at an address, which may be that of a thread store. */
export async function openItems(address: string): Promise<ItemStore> {
  if (isDatabaseUrl(address)) return (await import("../postgres.ts")).postgresStore(address);
  return (await import("../sqlite.ts")).sqliteStore(address);
}
