import type { Todo } from "../../../src/plan/todo/todo.ts";
import type { StampedEvent } from "../../../src/threads/log/thread-events.ts";
import type { Question } from "../../../src/threads/questions/index.ts";
import type { Prices } from "../../../src/threads/view/prices.ts";
import { type Effort, type Mode } from "../../../src/vocabulary.ts";

export type { Question, StampedEvent };

export interface Info {
  version: string;
  /** The graphs that a thread can run on. */
  graphs: readonly string[];
  model?: string;
  dir?: string;
  /** Settings of a new thread; absent on a server of users' graphs, which take none. */
  defaults?: Settings;
  prices?: Prices;
}

export type ThreadStatus = "running" | "waiting" | "stopped" | "failed" | "done";

/** A thread in the list. */
export interface Thread {
  id: string;
  title?: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  todos: { done: number; total: number };
  status: ThreadStatus;
  dir?: string;
  /** Created by another program, and read-only here. */
  isForeign?: true;
}

export interface Settings {
  /** The graph of a new thread; by default the first. */
  graph?: string;
  model?: string;
  effort?: Effort;
  mode?: Mode;
  plan?: boolean;
  preset?: string;
  approve?: string;
  ask?: readonly string[];
  shell?: boolean;
}

/** A thread with its events, up to now or up to a checkpoint. */
export interface ThreadContent {
  thread: Thread;
  settings: Settings;
  questions: Question[];
  head?: string;
  events: StampedEvent[];
  /** Live events with a higher number follow on the stream. */
  last?: number;
  /** Messages that the agent has not read yet. */
  kept?: readonly string[];
}

export interface Checkpoint {
  id: string;
  at: number;
  step: number;
  source: string;
  todos: { done: number; total: number };
}

export interface ChangedFile {
  path: string;
  added: number;
  removed: number;
  kind: "added" | "changed" | "removed" | "given";
}

/** A file before the thread and now; null if it does not exist. */
export interface FileVersions {
  path: string;
  before: string | null;
  after: string | null;
  isKnown: boolean;
}

export interface SentImage {
  type: string;
  /** In base64. */
  data: string;
}

export interface SentTask {
  task: string;
  images?: readonly SentImage[];
  /** Whether to summarize the conversation first. */
  compact?: boolean;
}

export interface UndoResult {
  text: string;
  notes: string[];
}

/** An item of an edit; a new one has no id. */
export type SentTodo = Omit<Todo, "id"> & { id?: string };

/** An edit of a plan with its base, and the rules if they changed. */
export interface SentPlan {
  todos: SentTodo[];
  base: readonly Todo[];
  rules?: readonly string[];
}

export type SentAnswer =
  | string
  /** `always`: the label of an offered rule, which is stored. */
  | { type: "approve"; always?: string }
  | { type: "reject"; message?: string }
  | { type: "edit"; todos: SentTodo[]; rules?: readonly string[] }
  | { type: "edit"; editedAction: { name: string; args: Record<string, unknown> } };

export type StreamEvent =
  | { event: "run"; data: StampedEvent }
  | { event: "thread"; data: Thread }
  | { event: "removed"; data: { id: string } }
  /** The beginning of the stream: every later event follows. */
  | { event: "start"; data: object }
  /** A gap: events of one thread, or of unknown threads, were missed. */
  | { event: "gap"; data: { thread?: string } };
