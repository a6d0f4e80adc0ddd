import { INTERRUPT, TASKS, type Checkpoint, type PendingWrite } from "@langchain/langgraph-checkpoint";
import type { ThreadSummary } from "./thread-store.ts";

/** The columns of a thread's row that its newest checkpoint determines. */
export interface CheckpointColumns {
  title: string | null;
  done: number;
  total: number;
  checkpoint: string | null;
  unfinished: number;
}

/** The columns of a thread's row that a list of threads shows. */
export interface SummaryColumns extends CheckpointColumns {
  id: string;
  created: number;
  updated: number;
  interrupted: number;
}

export function toThreadSummary(row: SummaryColumns, isRunning: boolean): ThreadSummary {
  const { id, title, created, updated, done, total, unfinished, interrupted } = row;
  return {
    id,
    ...(title !== null && { title }),
    createdAt: new Date(created),
    updatedAt: new Date(updated),
    todos: { done, total },
    state: isRunning ? "running" : interrupted === 1 ? "interrupted" : unfinished === 1 ? "idle" : "done",
  };
}

/** Whether the writes of a task include an interrupt. */
export function hasInterrupt(writes: readonly PendingWrite[]): boolean {
  return writes.some(([channel]) => channel === INTERRUPT);
}

export function toColumns({ id, channel_values: values }: Checkpoint): CheckpointColumns {
  const title = typeof values["title"] === "string" ? values["title"] : null;
  const todos: unknown[] = Array.isArray(values["todos"]) ? values["todos"] : [];
  const count = (status: string): number =>
    todos.filter((todo) => (todo as { status?: unknown } | null)?.status === status).length;
  const total = todos.length - count("cancelled");
  return { title, done: count("completed"), total, checkpoint: id, unfinished: hasNext(values) ? 1 : 0 };
}

/** Whether there is a node to run next: LangGraph keeps these in channels that are empty once they have run. */
function hasNext(values: Record<string, unknown>): boolean {
  const sends = values[TASKS];
  if (Array.isArray(sends) && sends.length > 0) return true;
  return Object.keys(values).some((name) => name === "__start__" || name.startsWith("branch:"));
}
