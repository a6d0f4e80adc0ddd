import type { RunStatus } from "../../../storage/index.ts";
import type { RunEvent } from "../../events/index.ts";
import type { Chunk, RunResult, ThreadEvent } from "../../host/index.ts";

/** A worker's message about a run, for readers in other processes. */
export type WireEvent =
  /** The run has started; `head` is the newest checkpoint at that time. */
  | { kind: "begin"; head: string | undefined }
  | { kind: "chunk"; chunk: Chunk }
  | { kind: "protocol"; event: ThreadEvent }
  | { kind: "event"; event: RunEvent }
  | { kind: "end"; status: RunStatus; result: RunResult | undefined };

/** One row of a run's events. */
export interface WireRow {
  run: string;
  attempt: number;
  /** The number of earlier rows of this attempt. */
  row: number;
  /** Written by one `SharedWriter` for all rows of the attempt. */
  events: unknown[];
}
