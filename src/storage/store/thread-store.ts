import type { BaseCheckpointSaver, CheckpointMetadata } from "@langchain/langgraph-checkpoint";

/**
 * `running`: a process holds the thread. `interrupted`: it waits for an answer. `idle`: it stopped half way and goes
 * on with `invoke(null)`. `done`: there is nothing left to run.
 */
export type ThreadState = "running" | "interrupted" | "idle" | "done";

export interface ThreadSummary {
  id: string;
  /** The state's `title`, where the graph has one. */
  title?: string;
  createdAt: Date;
  updatedAt: Date;
  /** How many todos are closed, of how many. */
  todos: { done: number; total: number };
  state: ThreadState;
}

/** A checkpoint without the values of its channels. */
export interface CheckpointSummary {
  id: string;
  /** The checkpoint that it came from. */
  parentId?: string;
  ns: string;
  /** Its place in the order in which checkpoints were put; larger is newer, whatever the clock says. */
  seq: number;
  createdAt: Date;
  metadata: CheckpointMetadata;
}

export interface ListCheckpointsOptions {
  ns?: string;
  limit?: number;
  /** The `seq` that those found come before. */
  before?: number;
}

export interface AcquireOptions {
  /** How long to wait for the present holder, in milliseconds. Default 0. */
  wait?: number;
  /** Takes the thread from whoever has it, who can write to it no more. For who knows that the holder is gone. */
  force?: boolean;
}

/** Gives a thread back. */
export interface Release {
  (): Promise<void>;
  /** What a run has in its config under `LEASE`: with it the run writes by this lease, and by no later one. */
  readonly token: string;
}

/** Where a run's config says by which lease it writes: `{ configurable: { [LEASE]: release.token } }`. */
export const LEASE = "__holdfast_lease";

/**
 * A LangGraph checkpointer with an index of its threads, and all that Holdfast keeps of them: what runs and surfaces
 * need, whatever database it is in. `sqliteSaver` and `postgresSaver` make one.
 */
export interface ThreadStore extends BaseCheckpointSaver {
  /** @internal What a server knows of threads and runs. */
  readonly ledger: Ledger;

  /** The threads, last used first; at most 100 unless `limit` says otherwise. */
  listThreads(options?: { limit?: number }): Promise<ThreadSummary[]>;

  getThread(threadId: string): Promise<ThreadSummary | undefined>;

  /** Some channels of a thread's newest checkpoint, without reading the others; a thread may lack any of them. */
  getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>>;

  /**
   * The last items of a list in a channel of a thread's newest checkpoint, oldest first, without reading the rest of
   * it: `getLast(thread, "messages")` is the last message. Empty where there is no such list.
   */
  getLast(threadId: string, channel: string, count?: number): Promise<unknown[]>;

  /**
   * What a thread has been through, newest first, without any of its values: as cheap in a long thread as in a short
   * one. `before` is the `seq` of the last one of the page before. At most 20 unless `limit` says otherwise, and those
   * of the main graph unless `ns` names another.
   */
  listCheckpoints(threadId: string, options?: ListCheckpointsOptions): Promise<CheckpointSummary[]>;

  /**
   * Tells the index how far a thread's plan is. It learns that from checkpoints by itself; a run that stops in the
   * middle of a step has finished more than its newest checkpoint says. Throws `thread-busy` when another process
   * works on it.
   */
  noteProgress(threadId: string, todos: ThreadSummary["todos"]): Promise<void>;

  /**
   * Takes a thread for this process and returns the function that gives it back. While it is held, nobody else can
   * write to it. Throws `thread-busy`, which says who holds it; a holder that died is replaced.
   */
  acquireThread(threadId: string, options?: AcquireOptions): Promise<Release>;

  /** @internal The threads that some process works on, each with a mark that changes with all that is saved of it. */
  threadsAtWork(): Promise<Map<string, string>>;

  /** @internal What other processes ask the holder of a thread for; undefined for a thread that is not there. */
  mailbox(threadId: string): Promise<Mailbox | undefined>;
  /** @internal The threads for whose holder there is something in the mailbox: one look for any number of them. */
  threadsWithMail(): Promise<ReadonlySet<string>>;

  /** Gives all threads back and closes the connection; never throws. The store cannot be used afterwards. */
  close(): void | Promise<void>;
}

/** How a run is: `interrupted` was stopped, or waits for an answer. */
export type RunStatus = "pending" | "running" | "success" | "error" | "interrupted";

/** A thread as a server knows it; its state is in its checkpoints. */
export interface HostedThread {
  id: string;
  /** The name of the graph that runs it. */
  graph: string;
  /** Who it belongs to, where a server has several users. */
  owner?: string;
  createdAt: number;
  updatedAt: number;
  /** Whether its last run failed. */
  hasFailed: boolean;
  metadata: Record<string, unknown>;
}

/** A run that a server was asked for. */
export interface RunRecord {
  id: string;
  thread: string;
  status: RunStatus;
  createdAt: number;
  updatedAt: number;
  /** How often it was begun. */
  attempt: number;
  /** The newest checkpoint when it was first begun; empty where there was none. */
  base?: string;
  /** What was asked for, as JSON. */
  request: unknown;
  /** Why it failed. */
  reason?: string;
}

/** A schedule that a server keeps. */
export interface ScheduleRecord {
  id: string;
  createdAt: number;
  /** When it is to start something next; absent while it rests. */
  due?: number;
  /** What it is to start, as JSON. */
  content: unknown;
}

/** A moment that a schedule is due, and the one after it. */
export interface Moment {
  schedule: string;
  due: number;
  next: number;
}

/** What a server must know of its threads and runs after it was killed, and checkpoints do not tell. */
export interface Ledger {
  thread(id: string): Promise<HostedThread | undefined>;

  /** All threads, last used first. */
  threads(): Promise<HostedThread[]>;

  /**
   * Changes what is known of a thread in one step, where `change` returns something, and returns that. Then `run` is
   * put in the same step. With a moment nothing is done, and nothing returned, unless the schedule is still due then:
   * of several servers one starts what it is for.
   */
  changeThread(
    id: string,
    change: (before: HostedThread | undefined) => HostedThread | undefined,
    run?: RunRecord,
    moment?: Moment,
  ): Promise<HostedThread | undefined>;

  run(id: string): Promise<RunRecord | undefined>;

  /** The runs of a thread, newest first. */
  runs(thread: string): Promise<RunRecord[]>;

  /** The runs that are to be begun or finished, oldest first. */
  unfinished(): Promise<RunRecord[]>;

  /** The runs that wait for their time (`delay` in their request), as far as they are whole. */
  forLater(): Promise<RunRecord[]>;

  putRun(run: RunRecord): Promise<void>;

  /** Changes a run in one step, where there is one and `change` returns something, and returns that. */
  changeRun(id: string, change: (before: RunRecord) => RunRecord | undefined): Promise<RunRecord | undefined>;

  removeRun(id: string): Promise<void>;

  /** Removes everything about a thread. */
  forget(thread: string): Promise<void>;

  /** The schedules, newest first; with a time those that are due by then, as far as they are whole. */
  schedules(dueBy?: number): Promise<ScheduleRecord[]>;

  /** Puts what `change` returns in the place of a schedule, in one step, and returns it; nothing removes it. */
  changeSchedule(
    id: string,
    change: (before: ScheduleRecord | undefined) => ScheduleRecord | undefined,
  ): Promise<ScheduleRecord | undefined>;
}

/** A letter in a mailbox. */
export interface Letter {
  id: number;
  content: unknown;
  /** What was about to be done for it when that was last heard of. */
  begun?: unknown;
}

/**
 * What other processes ask the one that holds a thread to do, and its answers. Each step is one transaction: whoever
 * is killed, a letter is there or not, begun or not, answered or not.
 */
export interface Mailbox {
  post(content: unknown): Promise<number>;

  /** The letters that have no answer yet, oldest first. */
  waiting(): Promise<Letter[]>;

  /** Notes what is about to be done. Throws `edit-withdrawn` when it is not wanted any more. */
  begin(id: number, begun: unknown): Promise<void>;

  answer(id: number, outcome: unknown): Promise<void>;

  /** The answer, which is then taken out; undefined while there is none. Throws `edit-withdrawn`. */
  fetch(id: number): Promise<unknown>;

  /** Takes a letter back. Returns false when it is too late. */
  withdraw(id: number): Promise<boolean>;
}
