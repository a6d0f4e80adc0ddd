export { Together } from "./batched-writes.ts";
export { Connection, corrupt, MEMORY, type Row, type SqlValue } from "./connection.ts";
export { Heart } from "./heartbeat.ts";
export { copyHeld, reading } from "./open-files.ts";
export { Table, toText, type Stored } from "./table.ts";
export {
  BLOBS,
  CHECKPOINTS,
  EDITS,
  HEADS,
  ITEMS,
  LEASES,
  THREADS,
  WRITES,
  type Lease,
  type StoredEdit,
  type StoredHead,
  type StoredThread,
} from "./tables.ts";
