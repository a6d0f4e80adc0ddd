export { bytesOf, digestOf, HASH_BYTES, hashOf, SEAL_BYTES, sealOf, sealText } from "./checksum.ts";
export { BETWEEN, itemDamage, ItemStore, type Items, type Page, type StoredItem } from "./item-store.ts";
export { BEAT_MS, busy, isProcessGone } from "./lease.ts";
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
export { ANSWER_MAX_AGE_MS, toLetter, withdrawn, type LetterRow } from "./letter-row.ts";
export { isText, toText } from "./storable-text.ts";
export { changed, naming } from "./thread-errors.ts";
export { isWaiting, toColumns, toThreadSummary } from "./thread-index.ts";
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
