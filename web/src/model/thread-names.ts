import type { ThreadStatus } from "../client/contract.ts";

/** A thread's status in a word. */
export const THREAD_NAMES: Readonly<Record<ThreadStatus, string>> = {
  running: "Working",
  waiting: "Waits for you",
  stopped: "Stopped",
  failed: "Failed",
  done: "Idle",
};
