export { setArguments, setCalls } from "./call-arguments.ts";
export { withoutControlTags, withTagsOf } from "./control-tags.ts";
export {
  argumentsProblem,
  callId,
  checkedTool,
  failure,
  foreseenFailure,
  looseTool,
  repairCheckedCalls,
  type ToolRuntime,
  UNLISTED,
  withTrial,
} from "./loose-tool.ts";
export { copyOf, withMessages, withNote, withOwnWords, withText, withUpdate } from "./message-copies.ts";
export { isMutation, type Mutation, MUTATIONS } from "./mutations.ts";
export { isCutNote, refusedCalls, withNotes, withoutRefusedTexts } from "./refused-texts.ts";
export {
  type CallResult,
  errorResult,
  type FailedCommand,
  failedCommand,
  failureOf,
  isHeld,
  isInterrupted,
  markTime,
  messagesOf,
  resultIn,
  timeOf,
  UNFINISHED,
  updatesOf,
  writesOf,
} from "./result-marks.ts";
export { askUser, reviewFields, type ReviewFields } from "./review.ts";
export {
  earlierResults,
  isWithheld,
  keepEarlierResults,
  lastTurn,
  openCalls,
  callPosition,
  turnOf,
  withholdCalls,
} from "./turn-calls.ts";
export { isPlanTool, planTool, wrapTool } from "./wrapped-tool.ts";
