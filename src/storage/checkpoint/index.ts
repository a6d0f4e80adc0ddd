export { EventLoopTurns } from "./event-loop-turns.ts";
export { HandledSave } from "./handled-save.ts";
export { leaseToken, readKey, toConfig, type CheckpointKey, type CheckpointRowKey } from "./key.ts";
export { ReadCheckpoints } from "./read-checkpoints.ts";
export { type HistoryOptions, listTuples, readTuple, type CheckpointRows } from "./read-tuples.ts";
export {
  encodeChannels,
  freezeCheckpoint,
  headerOf,
  isEdit,
  readChannels,
  readSummaries,
  toStored,
  writeIndex,
  type CheckpointHeader,
  type StoredCheckpoint,
  type StoredWrite,
} from "./stored-checkpoint.ts";
