/** Policies for a message to a thread that is at work. */
export const STRATEGIES = ["reject", "enqueue", "interrupt", "rollback"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Valid names of a queue. */
export const QUEUE_NAME = /^[a-z\d][\w.-]{0,63}$/i;

/** The checkpoint that a run starts from. */
export interface CheckpointPlace {
  checkpoint_id?: string;
  checkpoint_ns?: string;
  checkpoint_map?: Record<string, string>;
}

/** A request for a run. Plain JSON: it is kept until the run has finished, and read again after a kill. */
export interface RunRequest {
  /** The name of the graph. */
  graph: string;
  /** Null goes on where the thread stopped. */
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
  /** Not before so many seconds after it was asked for. */
  delay?: number;
  /** −100 to 100: runs of other threads with a lower one wait longer. Only on a cluster. */
  priority?: number;
  /** The queue that it waits in, for workers that take from it. Only on a cluster; default `runs`. */
  queue?: string;
  /** The keys that workers' limits count the run by, such as `tenant:acme`. Only on a cluster. */
  limits?: string[];
  /** The thread is deleted with the end of the run. */
  isTemporary?: boolean;
  /**
   * The modes of its stream that were asked for when it was started: of those that cost something at every step no
   * other is made. All where nothing is said, as of a run that is joined later.
   */
  modes?: string[];
  /** Its callbacks are streamed too, which costs: each has what its part of the graph was given. */
  isTraced?: boolean;
  /** Whether the conversation so far is summarized first; only for a graph that keeps settings. */
  compact?: boolean;
  /** Settings of a new thread; only for a graph that keeps settings. */
  settings?: Record<string, unknown>;
  /** The message as its author typed it, without what was added to it. Default: its text. */
  task?: string;
  /** Whether the message begins a turn also while the agent asks for words. Default: it is the answer. */
  isNewTurn?: boolean;
}
