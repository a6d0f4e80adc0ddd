export {
  bytesOf,
  CHECKSUM_BYTES,
  checksumOf,
  checksumText,
  contentDigest,
  contentHash,
  HASH_BYTES,
} from "./checksum.ts";
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
  DELAY,
  fromHosted,
  fromRun,
  fromSchedule,
  isForLater,
  toHosted,
  toRun,
  toSchedule,
  type HostedRow,
  type RunRow,
  type ScheduleRow,
} from "./ledger-rows.ts";
export { ANSWER_MAX_AGE_MS, editWithdrawn, toLetter, type LetterRow } from "./letter-row.ts";
export { isText, toText } from "./storable-text.ts";
export { nameThreadInErrors, threadChanged } from "./thread-errors.ts";
export { hasInterrupt, toColumns, toThreadSummary } from "./thread-index.ts";
export {
  LEASE,
  type AcquireOptions,
  type CheckpointSummary,
  type HostedThread,
  type Ledger,
  type Letter,
  type ListCheckpointsOptions,
  type Mailbox,
  type Moment,
  type Release,
  type RunRecord,
  type RunStatus,
  type ScheduleRecord,
  type ThreadState,
  type ThreadStore,
  type ThreadSummary,
} from "./thread-store.ts";
