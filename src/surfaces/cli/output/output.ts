import type { RunEvent } from "../../../threads/events/index.ts";
import type { RunView } from "../../../threads/view/index.ts";
import type { Sink } from "./harmless.ts";

/** Shows a run. `view` is the state after the event. */
export interface Output {
  show(event: RunEvent, view: RunView): void;
  /** Leaves the terminal to a question. */
  lend?<T>(work: () => Promise<T>): Promise<T>;
  close?(): Promise<void>;
}

/** Where an output writes. */
export interface Screen extends Pick<Sink, "write"> {
  columns?: number | undefined;
  rows?: number | undefined;
  on(event: "resize", listener: () => void): unknown;
  off(event: "resize", listener: () => void): unknown;
}
