export { Turns } from "./event-loop-turns.ts";
export { Save } from "./handled-save.ts";
export { leaseOf, readKey, toConfig, type CheckpointKey, type Place } from "./key.ts";
export { Seen } from "./read-checkpoints.ts";
export {
  checkpointAsItIs,
  encodeChannels,
  fixedOf,
  isEdit,
  toSummary,
  toTuple,
  type Fixed,
  type StoredCheckpoint,
  type StoredWrite,
} from "./stored-checkpoint.ts";
