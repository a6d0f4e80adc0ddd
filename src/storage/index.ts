export type { HistoryOptions } from "./checkpoint/index.ts";
export type { PartialList } from "./codec/index.ts";
export {
  backupStore,
  checkStore,
  repairStore,
  type CheckOptions,
  type Problem,
  type Progress,
  type Repair,
} from "./care/index.ts";
export { postgresSaver, postgresStore } from "./postgres.ts";
export type { DatabaseOptions } from "./postgres/database/index.ts";
export type { PostgresSaver } from "./postgres/index.ts";
export { sqliteSaver, sqliteStore } from "./sqlite.ts";
export type { SqliteSaver } from "./sqlite/index.ts";
export { defaultStatePath } from "./state-path.ts";
export {
  LEASE,
  type AcquireOptions,
  type CheckpointSummary,
  type HostedThread,
  type ItemStore,
  type Ledger,
  type Letter,
  type ListCheckpointsOptions,
  type ListThreadsOptions,
  type Mailbox,
  type Moment,
  type Release,
  type RunRecord,
  type RunStatus,
  type ScheduleRecord,
  type ThreadState,
  type ThreadStore,
  type ThreadSummary,
} from "./store/index.ts";
