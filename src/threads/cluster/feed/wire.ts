import type { RunStatus } from "../../../storage/index.ts";
import type { RunEvent } from "../../events/index.ts";
import type { Chunk, RunResult, ThreadEvent } from "../../host/index.ts";

/** A message of a worker about a run, for readers in other processes. */
export type WireEvent =
  /** The run has begun; `head` is the newest checkpoint at that time. */
  | { kind: "begin"; head: string | undefined }
  | { kind: "chunk"; chunk: Chunk }
  | { kind: "protocol"; event: ThreadEvent }
  | { kind: "event"; event: RunEvent }
  | { kind: "end"; status: RunStatus; result: RunResult | undefined };

/** One row of a run's events: the run, the number of earlier rows of this attempt, and the events. */
export interface WireRow {
  run: string;
  attempt: number;
  row: number;
  /** Each as a `SharedWriter` wrote it, in the order of the rows. */
  events: unknown[];
}
