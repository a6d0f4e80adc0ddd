export { BatchedWrites } from "./batched-writes.ts";
export { Connection, corrupt, MEMORY, type Row, type SqlValue } from "./connection.ts";
export { fileHeartbeat } from "./heartbeat.ts";
export { copyOpenFile, isOpenHere, withDescriptor } from "./open-files.ts";
export { Table, toBytes, toText, type TableRow } from "./table.ts";
export {
  BLOBS,
  CHECKPOINTS,
  HEADS,
  ITEMS,
  LEASES,
  RECORDS,
  THREADS,
  WRITES,
  type HeadRow,
  type Lease,
  type ThreadRow,
} from "./tables.ts";
