import type { BaseCheckpointSaver, CheckpointMetadata } from "@langchain/langgraph-checkpoint";
import { CONFIG } from "../../marks.ts";
import type { Ledger } from "./ledger.ts";
import type { Mailbox } from "./mailbox.ts";

/**
 * `running`: a process holds the thread. `interrupted`: it waits for an answer. `idle`: it stopped before its end and
 * continues with `invoke(null)`. `done`: there is nothing left to run.
 */
export type ThreadState = "running" | "interrupted" | "idle" | "done";

/** A thread as `listThreads` shows it. */
export interface ThreadSummary {
  id: string;
  /** The state's `title`, where the graph has one. */
  title?: string;
  createdAt: Date;
  updatedAt: Date;
  /** The number of completed todos of the present plan, and of all that are not cancelled. */
  todos: { done: number; total: number };
  state: ThreadState;
}

/** A checkpoint without the values of its channels. */
export interface CheckpointSummary {
  id: string;
  /** The id of the parent checkpoint. */
  parentId?: string;
  ns: string;
  /** Position in the order of saving; larger is newer, whatever the clock says. */
  seq: number;
  createdAt: Date;
  metadata: CheckpointMetadata;
}

/** Options of `listThreads`. */
export interface ListThreadsOptions {
  limit?: number;
  /** Returns only threads with one of these ids. */
  ids?: readonly string[];
}

/** Options of `listCheckpoints`. */
export interface ListCheckpointsOptions {
  ns?: string;
  limit?: number;
  /** Returns only checkpoints with a smaller `seq`. */
  before?: number;
}

/** Options of `acquireThread`. */
export interface AcquireOptions {
  /** The time to wait for the present holder, in milliseconds. Default 0. */
  wait?: number;
  /** Takes the thread from its holder, which can then no longer write to it. For callers that know the holder is dead. */
  force?: boolean;
}

/** Releases a lease. */
export interface Release {
  (): Promise<void>;
  /** The value for `LEASE` in a run's config: the run then writes under this lease, and under no later one. */
  readonly token: string;
}

/** The key for a run's lease in its config: `{ configurable: { [LEASE]: release.token } }`. */
export const LEASE = CONFIG.lease;

/**
 * A LangGraph checkpointer with an index of its threads, leases, mailboxes and a ledger: the interface of both databases.
 * `sqliteSaver` and `postgresSaver` open one.
 */
export interface ThreadStore extends BaseCheckpointSaver {
  /** @internal Threads and runs as servers record them. */
  readonly ledger: Ledger;

  /** The threads, last used first, or those among some ids. Default limit: 100. */
  listThreads(options?: ListThreadsOptions): Promise<ThreadSummary[]>;

  getThread(threadId: string): Promise<ThreadSummary | undefined>;

  /** Reads some channels of a thread's newest checkpoint, and leaves out those that it lacks. */
  getValues(threadId: string, channels: readonly string[]): Promise<Record<string, unknown>>;

  /**
   * Lists the checkpoints of a thread, newest first, without values: a page costs the same in a long thread as in a short
   * one. `before` is the `seq` of the last checkpoint on the page before. Defaults: 20 checkpoints, the main graph.
   */
  listCheckpoints(threadId: string, options?: ListCheckpointsOptions): Promise<CheckpointSummary[]>;

  /**
   * Records the progress of a thread's plan in the index, for a run that stops in the middle of a step: it has finished
   * more than its newest checkpoint has. Throws `thread-busy` when another process works on the thread.
   */
  noteProgress(threadId: string, todos: ThreadSummary["todos"]): Promise<void>;

  /**
   * Takes the lease of a thread for this process and returns the function that releases it. Until then no other process
   * can write to the thread. Replaces a dead holder. Throws `thread-busy`, which names the holder.
   */
  acquireThread(threadId: string, options?: AcquireOptions): Promise<Release>;

  /** @internal The threads that some process works on, each with a version that changes with every save. */
  threadsAtWork(): Promise<Map<string, string>>;

  /** @internal The mailbox of a thread's holder; undefined for a thread that does not exist. */
  mailbox(threadId: string): Promise<Mailbox | undefined>;
  /** The threads with unanswered letters: one query for any number of them. */
  threadsWithMail(): Promise<ReadonlySet<string>>;

  /** Releases all leases and closes the connection. Never throws. The store cannot be used afterwards. */
  close(): void | Promise<void>;
}
