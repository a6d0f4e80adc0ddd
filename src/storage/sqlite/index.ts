export { SqliteItems } from "./items.ts";
export { isAlive } from "./leases.ts";
export { SqliteSaver } from "./saver.ts";
