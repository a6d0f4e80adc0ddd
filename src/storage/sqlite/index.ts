export { SqliteItems } from "./items.ts";
export { isAlive } from "./leases.ts";
export { LEDGER_TABLES } from "./ledger.ts";
export { SqliteSaver } from "./saver.ts";
