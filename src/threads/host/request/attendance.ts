import type { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import type { Ending, RunEvent } from "../../events/index.ts";
import type { PreparedRun, PrepareOptions, WantedSettings } from "../../prepare/index.ts";
import type { Question } from "../../questions/index.ts";
import type { Thread } from "../../thread/index.ts";
import type { RunView } from "../../view/index.ts";

/** The thread of a run that is about to begin, and its agent. */
export interface Begun {
  thread: Thread;
  ready: PreparedRun;
}

/**
 * A person at a run of this process, at a terminal or an editor: sees events as they come, and answers while the run
 * waits. Such a run is not in the ledger: after a kill it continues when the person says so.
 */
export interface Attendance {
  /** The settings of the run, in the place of the thread's. The thread keeps them with a message. */
  settings: WantedSettings;
  /** `view` is the state after the event. */
  show: (event: RunEvent, view: RunView) => void;
  /** Returns a value to resume with; undefined leaves the question open. */
  answer: (question: Question) => Promise<unknown>;
  /**
   * Called with the thread held and the input made, before the first event. Returns a notice to show; a throw calls the
   * run off.
   */
  onBegin?: (begun: Begun) => Promise<string | undefined>;
  /** Called before the last event, and may add the command that continues the thread. */
  onEnd?: (end: Ending, thread: Thread) => Promise<{ resume?: string }>;
  /** Other readers of the model's stream. */
  callbacks?: BaseCallbackHandler[];
  /** Parts of the agent that only this run has. */
  prepare?: Partial<Pick<PrepareOptions, "live" | "place" | "canAsk" | "projectOf" | "pricesOf">>;
}
