export type { AcquireOptions } from "./leases.ts";
export type { SqliteSaver } from "./saver.ts";
export { sqliteSaver } from "./sqlite.ts";
export { defaultStatePath } from "./state-path.ts";
export type { ThreadState, ThreadSummary } from "./threads.ts";
