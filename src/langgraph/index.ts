export { earlierAnswer, forgetOthersAnswer, hasAnswer, sharedAnswer } from "./answers.ts";
export {
  answeredCalls,
  CallRecord,
  isOvertaken,
  keepAnswers,
  type StoppedCall,
  type Unended,
} from "./call-journal.ts";
export { giveOwnId, messagesField, setId } from "./messages.ts";
export {
  type Chunk,
  type ChunkStream,
  detachedConfigurable,
  joinedInterrupts,
  OWN_SIGNAL,
  partedInterrupt,
  runSignalOf,
  streamOf,
  withPartedInterrupts,
  withStream,
} from "./nested-run.ts";
export { type CallConfig, showResult } from "./shown-result.ts";
export { savedResults, type SavedWrite, stepWrites } from "./step-writes.ts";
export { checkpointerOf, isResuming, readState, scratchpadOf, taskInputOf, taskOf } from "./task.ts";
export { unparsedState } from "./unparsed-state.ts";
