import type { MessageContent } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph";
import type { Todo } from "../../plan/index.ts";
import type { HostedThread, Ledger } from "../../storage/index.ts";
import type { RequestOptions } from "../edit/mailbox.ts";
import type { PlanEdit } from "../plan/merged-plan.ts";
import type { Attendance } from "./attendance.ts";
import type { HostedGraph } from "./graphs.ts";
import type { Run } from "./hosted-run.ts";
import type { RunRequest } from "./request/request.ts";
import type { Schedules } from "./schedules/schedule.ts";
import type { EventLog } from "./stream/event-log.ts";
import type { HostEvent } from "./stream/live-events.ts";
import type { ThreadEvent } from "./stream/thread-protocol.ts";

/** A value of this process, or a promise for one of another. */
export type Awaitable<T> = T | Promise<T>;

/** Thread metadata that is not in its checkpoints: title, owner, graph. */
export type ThreadNote = Partial<Omit<HostedThread, "id" | "createdAt" | "updatedAt">>;

export interface StartOptions {
  note?: ThreadNote;
  /** The person at the run; only where the host runs threads itself. */
  attendance?: Attendance | undefined;
}

export interface CancelOptions {
  /** Whether the thread goes back to where it was before the run. */
  isRolledBack?: boolean;
}

/**
 * Takes runs and lets surfaces watch them: `RunHost` runs them in this process, `ClusterHost` leaves them to workers
 * that share a database with it. One run per thread at a time. A run belongs to the host and not to the connection
 * that asked for it.
 */
export interface HostPort {
  readonly graphs: ReadonlyMap<string, HostedGraph>;
  readonly checkpointer: BaseCheckpointSaver;
  readonly ledger: Ledger;
  /** All events. Numbers keep rising after a restart. */
  readonly events: EventLog<HostEvent>;

  /** Throws `invalid-request` where there is none of this name. */
  graph: (name: string) => HostedGraph;
  /** The name of the graph that runs a thread. */
  graphOf: (thread: string) => Promise<string>;
  /** The same, where it is known already what the ledger says. */
  graphName: (thread: Pick<HostedThread, "graph"> | undefined) => string;

  /** Makes a thread known, or adds to what is known of it. Throws `not-found` where it has another owner. */
  noteThread: (id: string, more: ThreadNote) => Promise<HostedThread>;
  /** Tells everybody that a thread has gone on in another process. */
  noteMove: (thread: string) => Promise<void>;
  /** Deletes a thread. Throws `thread-busy` while it is at work. */
  remove: (thread: string) => Promise<void>;
  /**
   * Puts a person's list in the place of a thread's plan: at once, or between two steps of the run at work, in whichever
   * process that is. Throws what `writePlan` throws.
   */
  editPlan: (thread: string, edit: PlanEdit, options?: RequestOptions) => Promise<Todo[]>;

  /**
   * Gives a message to the agent at work on a thread, in whichever process; it reads it at its next call. Throws
   * `run-ended` where none is: then the message is the next task.
   */
  say: (thread: string, content: MessageContent, options?: RequestOptions) => Promise<void>;

  removeRun: (id: string) => Promise<void>;

  /** A run that is at work, or was a moment ago. */
  run: (id: string) => Awaitable<Run | undefined>;
  /** The run that a thread is at, if it is at any. */
  active: (thread: string) => Awaitable<Run | undefined>;
  isBusy: (thread: string) => Awaitable<boolean>;
  /** The events of a thread's runs in LangGraph's newer protocol. */
  protocol: (thread: string) => Awaitable<EventLog<ThreadEvent>>;

  /**
   * Begins a run, or puts it behind those that its thread is at, of which `note` is said. Throws `thread-busy` where
   * that was asked for, and `not-found` where the thread has another owner.
   */
  start: (thread: string, request: RunRequest, options?: StartOptions) => Promise<Run>;
  /** Stops a run. What has finished stays, unless it is rolled back. Returns whether there was something to stop. */
  cancel: (id: string, options?: CancelOptions) => Promise<boolean>;
  /** Stops everything of a thread. */
  cancelAll: (thread: string, options?: CancelOptions) => Promise<boolean>;

  /** Whether it takes runs now. */
  isReady: () => Awaitable<boolean>;
  /** Metrics of all workers in Prometheus' text format; only on a cluster. */
  readonly metrics?: () => Promise<string>;
  readonly schedules: Schedules;

  /** Goes on with what a killed process left unfinished, and begins what is for later when its time has come. */
  recover: () => Promise<void>;
  /** Ends its part, where nothing is lost. */
  stop: () => Promise<void>;
}
