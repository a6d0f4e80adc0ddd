import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Ending, RunEvent } from "../../events/index.ts";
import type { PreparedRun, PrepareOptions, WantedSettings } from "../../prepare/index.ts";
import type { Question } from "../../questions/index.ts";
import type { Thread } from "../../thread/index.ts";
import type { RunView } from "../../view/index.ts";

/** The held thread of a run that is about to start, and its agent. */
export interface Begun {
  thread: Thread;
  ready: PreparedRun;
}

/**
 * The user at a run of this process, in a terminal or an editor: sees events at once, and answers while the run waits.
 * Such a run is not in the ledger: after a kill the user continues it.
 */
export interface Attendance {
  /** The settings of the run, instead of the thread's. A message saves them in the thread. */
  settings: WantedSettings;
  /** `view` is the state after the event. */
  show: (event: RunEvent, view: RunView) => void;
  /** Returns a value to resume with; undefined leaves the question open. */
  answer: (question: Question) => Promise<unknown>;
  /**
   * Called before the first event, while the thread is held and the input is ready. Returns a notice to show; a throw
   * cancels the run.
   */
  onBegin?: (begun: Begun) => Promise<string | undefined>;
  /** Called before the last event; may return the command that continues the thread. */
  onEnd?: (end: Ending, thread: Thread) => Promise<{ resume?: string }>;
  /** Other readers of the model's stream. */
  callbacks?: BaseCallbackHandler[];
  /** Parts of the agent that only this run has. */
  prepare?: Partial<Pick<PrepareOptions, "live" | "place" | "canAsk" | "projectOf" | "pricesOf">>;
}
