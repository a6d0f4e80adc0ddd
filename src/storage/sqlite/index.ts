export { SqliteItems } from "./items.ts";
export { LatestCheckpoints } from "./latest-checkpoints.ts";
export { isAlive } from "./leases.ts";
export { SqliteSaver } from "./saver.ts";
