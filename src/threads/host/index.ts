export {
  type CancelOptions,
  Host,
  type HostThread,
  type StartOptions,
  type StartThreadOptions,
} from "./client.ts";
export { EndedRuns, KEPT_MS } from "./ended-runs.ts";
export { execute } from "./execute.ts";
export { checkThread, type HostedGraph, writable } from "./graphs.ts";
export { RunHost } from "./host.ts";
export { type Chunk, Run, type RunHome, type RunResult } from "./hosted-run.ts";
export { deliverKept } from "./kept-messages.ts";
export {
  alreadyRunning,
  atWork,
  firstNumber,
  isBusy,
  newRecord,
  notedThread,
  stopping,
  type ThreadNote,
} from "./records.ts";
export type { Attendance, Begun } from "./request/attendance.ts";
export { taskOf } from "./request/begin.ts";
export { QUEUE_NAME, type RunRequest, STRATEGIES, type Strategy } from "./request/request.ts";
export { inAllModes } from "./request/stream-modes.ts";
export {
  ownerFor,
  type Schedule,
  type ScheduleChange,
  type Schedules,
  type ChangeOf,
  forgetThread,
  isOver,
  type NewSchedule,
  unknownSchedule,
  unreadableTime,
} from "./schedules/schedule.ts";
export { type Entry, EventLog } from "./stream/event-log.ts";
export type { HostEvent, StampedEvent } from "./stream/live-events.ts";
export type { ThreadEvent } from "./stream/thread-protocol.ts";
export { isWholeState } from "./thread-queue.ts";
export { localHost, threadsGraph, type ThreadsGraphOptions, titleOf } from "./threads-graph.ts";
export { nextTime, StoredSchedules } from "./schedules/stored-schedules.ts";
