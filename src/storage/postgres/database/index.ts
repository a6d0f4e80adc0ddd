export { readAddress } from "./address.ts";
export { Database, isUnreachable, type DatabaseOptions, type Row, type Statement } from "./database.ts";
export { databaseHeartbeat } from "./heartbeat.ts";
export { migrate } from "./migrate.ts";
export {
  BLOBS,
  CheckedTable,
  CHECKPOINTS,
  corrupt,
  HEADS,
  ITEMS,
  RECORDS,
  THREADS,
  WRITES,
  type CheckpointRow,
  type HeadRow,
  type ThreadRow,
  type WriteRow,
} from "./tables.ts";
