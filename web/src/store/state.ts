import { EMPTY_THREAD, type ThreadState } from "../../../src/threads/log/thread.ts";
import { MAIN } from "../../../src/threads/view/view.ts";
import type {
  ChangedFile,
  Checkpoint,
  Info,
  Settings,
  StampedEvent,
  Thread,
  ThreadStatus,
} from "../client/contract.ts";
import type { Connection } from "../client/stream.ts";

/** The parts that the page loads; each may fail alone. */
export type Part = "info" | "threads" | "older" | "thread" | "calls" | "files" | "history" | "earlier";

export interface PageState {
  /** Without a token the page only explains where to find it. */
  hasToken: boolean;
  connection: Connection;
  info?: Info;
  /** Undefined until first loaded. */
  threads?: readonly Thread[];
  hasMoreThreads: boolean;
  query: string;
  /** The open thread; undefined for the form of a new one. */
  open?: string;
  /** The open thread's entry of the server's list, also if `threads` does not include it. */
  listed?: Thread;
  loading: "idle" | "loading" | "missing" | "failed";
  thread: ThreadState;
  /** Messages to the open thread that its agent has not read yet. */
  kept: readonly string[];
  settings: Settings;
  files?: readonly ChangedFile[];
  checkpoints?: readonly Checkpoint[];
  /** Whether there are checkpoints before these. */
  earlier: "none" | "more" | "loading";
  /** The checkpoint that is shown instead of the present. */
  past?: { checkpoint: Checkpoint; thread?: ThreadState };
  /** The error of the user's last action, in one sentence. */
  problem?: string;
  /** The error of each part that could not be loaded, in one sentence. */
  failed: Readonly<Partial<Record<Part, string | undefined>>>;
  /** The result of the last undo or edit, one sentence each. */
  notes?: readonly string[];
  /** The last action, for screen readers. */
  message?: string;
}

export const START: PageState = {
  hasToken: true,
  connection: "connecting",
  hasMoreThreads: false,
  query: "",
  failed: {},
  loading: "idle",
  earlier: "none",
  thread: EMPTY_THREAD,
  kept: [],
  settings: {},
};

export const STATUS_LABELS: Readonly<Record<ThreadStatus, string>> = {
  running: "Working",
  waiting: "Waits for you",
  stopped: "Stopped",
  failed: "Failed",
  done: "Idle",
};

/** The status of the open thread: by its events, else as the server lists it. */
export function statusOf({ thread, listed, open }: PageState): ThreadStatus | undefined {
  if (open === undefined) return undefined;
  if (thread.isRunning) return thread.questions.length > 0 ? "waiting" : "running";
  if (listed?.status === "running") return "running";
  if (thread.questions.length > 0) return "waiting";
  switch (thread.end?.outcome) {
    case "failed":
      return "failed";
    case "open":
    case "interrupted":
      return "stopped";
    case "done":
      return "done";
    case "waiting":
    case undefined:
      return listed?.status ?? "done";
  }
}

/** The thread at the chosen checkpoint, or now. */
export function shownThread({ past, thread }: PageState): ThreadState {
  return past?.thread ?? thread;
}

/** The kept messages without those that the agent has read, or that have become its next task. */
export function stillKept(kept: readonly string[], events: readonly StampedEvent[]): readonly string[] {
  const read = events.flatMap((event) => {
    if (event.type === "message") return [event.text.trim()];
    return event.type === "run-start" && event.task !== undefined ? [event.task.trim()] : [];
  });
  return read.reduce((texts, text) => {
    const at = texts.findIndex((one) => one.trim() === text);
    return at < 0 ? texts : texts.toSpliced(at, 1);
  }, kept);
}

export function titleOf({ listed, open = "" }: PageState): string {
  return listed?.title || open;
}

/** Updates the progress of the thread that an event is about. */
export function withProgress(threads: readonly Thread[], event: StampedEvent): readonly Thread[] {
  if (event.type !== "plan-change" || event.owner !== MAIN) return threads;
  const { total, completed, cancelled } = event.counts;
  const todos = { done: completed, total: total - cancelled };
  return threads.map((thread) => (thread.id === event.thread ? { ...thread, todos } : thread));
}

/** Adds or replaces a thread; the newest comes first. */
export function withThread(threads: readonly Thread[], thread: Thread): readonly Thread[] {
  const others = threads.filter(({ id }) => id !== thread.id);
  return [...others, thread].toSorted((a, b) => b.updatedAt - a.updatedAt);
}
