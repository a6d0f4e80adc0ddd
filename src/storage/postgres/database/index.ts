export { readAddress } from "./address.ts";
export { Database, isAway, type DatabaseOptions, type Row, type Statement } from "./database.ts";
export { Heart } from "./heartbeat.ts";
export { migrate } from "./migrate.ts";
export {
  BLOBS,
  CHECKPOINTS,
  corrupt,
  HEADS,
  SealedTable,
  THREADS,
  WRITES,
  type CheckpointRow,
  type HeadRow,
  type ThreadRow,
  type WriteRow,
} from "./tables.ts";
