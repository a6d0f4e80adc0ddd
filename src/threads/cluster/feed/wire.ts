import type { RunStatus } from "../../../storage/index.ts";
import type { RunEvent } from "../../events/events.ts";
import type { Chunk, RunResult } from "../../host/hosted-run.ts";
import type { ThreadEvent } from "../../host/stream/thread-protocol.ts";

/** What a worker says of a run to who watches it elsewhere. */
export type WireEvent =
  /** It has begun; `head` is the newest checkpoint that it found. */
  | { kind: "begin"; head: string | undefined }
  | { kind: "chunk"; chunk: Chunk }
  | { kind: "protocol"; event: ThreadEvent }
  | { kind: "event"; event: RunEvent }
  | { kind: "end"; status: RunStatus; result: RunResult | undefined };

/** What is said of a run in one row: which one, how many rows of this attempt were before, and the events. */
export interface WireRow {
  run: string;
  attempt: number;
  row: number;
  /** Each as a `SharedWriter` wrote it, in the order of the rows. */
  events: unknown[];
}
