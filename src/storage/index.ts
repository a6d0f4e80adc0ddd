export { backupStore } from "./care/backup.ts";
export { checkStore, type CheckOptions } from "./care/check.ts";
export type { ItemStore } from "./store/item-store.ts";
export { postgresSaver, postgresStore } from "./postgres.ts";
export type { DatabaseOptions } from "./postgres/database/database.ts";
export type { PostgresSaver } from "./postgres/saver.ts";
export type { Problem, Progress } from "./care/problem.ts";
export { repairStore, type Repair } from "./care/repair.ts";
export type { SqliteSaver } from "./sqlite/saver.ts";
export { sqliteSaver, sqliteStore } from "./sqlite.ts";
export { defaultStatePath } from "./state-path.ts";
export { openStore } from "./store.ts";
export type { CheckpointSummary, ListCheckpointsOptions } from "./checkpoint/summary.ts";
export {
  LEASE,
  type AcquireOptions,
  type HostedThread,
  type Ledger,
  type Letter,
  type Mailbox,
  type Moment,
  type Release,
  type RunRecord,
  type RunStatus,
  type ScheduleRecord,
  type ThreadState,
  type ThreadStore,
  type ThreadSummary,
} from "./store/thread-store.ts";
