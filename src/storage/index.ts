export { backupStore } from "./backup.ts";
export { checkStore, type CheckOptions } from "./check.ts";
export type { AcquireOptions } from "./leases.ts";
export type { Problem, Progress } from "./problem.ts";
export { repairStore, type Repair } from "./repair.ts";
export type { SqliteSaver } from "./saver.ts";
export { sqliteSaver } from "./sqlite.ts";
export { defaultStatePath } from "./state-path.ts";
export type { ThreadState, ThreadSummary } from "./threads.ts";
