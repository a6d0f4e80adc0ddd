export { checksumOf, checksumText, contentDigest, contentHash, HASH_BYTES } from "./checksum.ts";
export { Heartbeat } from "./heartbeat.ts";
export {
  itemDamage,
  ItemStore,
  NAMESPACE_SEPARATOR,
  type Items,
  type Page,
  type StoredItem,
} from "./item-store.ts";
export { BEAT_MS, isProcessGone, threadBusy } from "./lease.ts";
export {
  isForLater,
  RecordLedger,
  type HostedThread,
  type Ledger,
  type Moment,
  type RunRecord,
  type RunStatus,
  type ScheduleRecord,
} from "./ledger.ts";
export { Mailbox, type Letter } from "./mailbox.ts";
export {
  RECORD_SHAPES,
  type Records,
  type RecordTable,
  type RowOf,
  type Script,
  type Shape,
  type Step,
} from "./records.ts";
export { isText, toText } from "./storable-text.ts";
export { onThread, threadChanged } from "./thread-errors.ts";
export { hasInterrupt, toColumns, toThreadSummary } from "./thread-index.ts";
export {
  LEASE,
  type AcquireOptions,
  type CheckpointSummary,
  type ListCheckpointsOptions,
  type ListThreadsOptions,
  type Release,
  type ThreadState,
  type ThreadStore,
  type ThreadSummary,
} from "./thread-store.ts";
