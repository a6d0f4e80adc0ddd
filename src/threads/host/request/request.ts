/** Policies for a request to a thread that is at work. */
export const STRATEGIES = ["reject", "enqueue", "interrupt", "rollback"] as const;
export type Strategy = (typeof STRATEGIES)[number];

export const QUEUE_NAME = /^[a-z\d][\w.-]{0,63}$/i;

export interface CheckpointPlace {
  checkpoint_id?: string;
  checkpoint_ns?: string;
  checkpoint_map?: Record<string, string>;
}

/** A request for a run. Plain JSON: it is stored until the run has finished, and read again after a kill. */
export interface RunRequest {
  graph: string;
  /** Null continues where the thread stopped. */
  input?: Record<string, unknown> | null;
  command?: { resume?: unknown; update?: unknown; goto?: unknown };
  checkpoint?: CheckpointPlace;
  configurable?: Record<string, unknown>;
  context?: Record<string, unknown>;
  recursionLimit?: number;
  interruptBefore?: string[] | "*";
  interruptAfter?: string[] | "*";
  metadata?: Record<string, unknown>;
  strategy?: Strategy;
  /** The delay of its start, in seconds. */
  delay?: number;
  /** −100 to 100; runs with a higher priority start first. Only on a cluster. */
  priority?: number;
  /** The queue that it waits in. Only on a cluster; default `runs`. */
  queue?: string;
  /** The keys that workers' limits count the run by, such as `tenant:acme`. Only on a cluster. */
  limits?: string[];
  /** Whether the thread is deleted at the end of the run. */
  isTemporary?: boolean;
  /**
   * The requested stream modes. Of the modes that cost something at every step only these are streamed. Default: all,
   * as for a run that is joined later.
   */
  modes?: string[];
  /** Whether its callbacks are streamed too. Expensive: each has the input of its part of the graph. */
  isTraced?: boolean;
  /** Whether the conversation so far is summarized first; only for a graph that keeps settings. */
  compact?: boolean;
  /** Settings of a new thread; only for a graph that keeps settings. */
  settings?: Record<string, unknown>;
  /** The message as its author typed it, without what was added to it. Default: its text. */
  task?: string;
  /** Whether the message starts a turn even if the agent waits for an answer. Default: the message is the answer. */
  isNewTurn?: boolean;
  /**
   * Whether it waits while the thread has an open question, and an answer goes first. Default: it discards the question.
   * Not on a cluster.
   */
  waitsForAnswer?: boolean;
}
