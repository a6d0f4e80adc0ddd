import type { Todo } from "../../../src/plan/todo/todo.ts";
import type { Question, StampedEvent } from "../../../src/threads/story/told.ts";
import type { Prices } from "../../../src/threads/view/prices.ts";

export type { Question, StampedEvent };

/** The server's description of itself. */
export interface Info {
  version: string;
  /** The graphs that a thread can run on. */
  graphs: readonly string[];
  model?: string;
  dir?: string;
  /** Settings of a new thread; absent where graphs of somebody's own are served, which take none. */
  defaults?: Settings;
  prices?: Prices;
}

export type ThreadStatus = "running" | "waiting" | "stopped" | "failed" | "done";

/** A thread, as the list shows it. */
export interface Thread {
  id: string;
  title?: string;
  /** Epoch milliseconds. */
  createdAt: number;
  updatedAt: number;
  todos: { done: number; total: number };
  status: ThreadStatus;
  dir?: string;
  /** Made by another program: it can be looked at, and nobody here goes on with it. */
  isForeign?: true;
}

export const MODES = ["plan", "ask", "edits", "auto"] as const;
export type Mode = (typeof MODES)[number];
export const EFFORTS = ["off", "low", "medium", "high"] as const;
export type Effort = (typeof EFFORTS)[number];

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

/** A thread with all that happened in it, now or at a checkpoint. */
export interface ThreadContent {
  thread: Thread;
  settings: Settings;
  questions: Question[];
  head?: string;
  events: StampedEvent[];
  /** Live events with a higher number follow on the stream. */
  last?: number;
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

/** A file before the thread and now; null where it is not there. */
export interface FileVersions {
  path: string;
  before: string | null;
  after: string | null;
  /** False: what was before is not known. */
  isKnown: boolean;
}

/** An image that goes along with a task. */
export interface SentImage {
  type: string;
  /** In base64. */
  data: string;
}

/** A task, and the way in which it is done. */
export interface SentTask {
  task: string;
  images?: readonly SentImage[];
  /** Whether the conversation so far is summarized first. */
  compact?: boolean;
}

/** The result of taking back a message. */
export interface UndoResult {
  text: string;
  isFirst: boolean;
  notes: string[];
}

/** An item as a person sends it; a new one has no id. */
export type SentTodo = Omit<Todo, "id"> & { id?: string };

/** An edit of a plan: what it was made of, and the rules where they are changed. */
export interface SentPlan {
  todos: SentTodo[];
  base: readonly Todo[];
  rules?: readonly string[] | undefined;
}

/** A person's answer to a question. */
export type Answer =
  | string
  | { type: "approve" }
  | { type: "reject"; reason?: string; message?: string }
  | { type: "edit"; todos: SentTodo[]; rules?: readonly string[] }
  | { type: "edit"; editedAction: { name: string; args: Record<string, unknown> } };

/** An event of the stream. */
export type StreamEvent =
  | { event: "run"; data: StampedEvent }
  | { event: "thread"; data: Thread }
  | { event: "removed"; data: { id: string } }
  /** The beginning: every later event is sent. */
  | { event: "start"; data: object }
  /** A gap: events of one thread, or of unknown threads, were missed. */
  | { event: "gap"; data: { thread?: string } };
