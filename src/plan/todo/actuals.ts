import { own } from "./own.ts";
import type { Actuals, Todo } from "./todo.ts";

/** What a thread has spent so far. Only ever grows. */
export interface Tally {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

/** A tally at a moment. */
export interface Mark extends Tally {
  /** Epoch milliseconds. */
  at: number;
  /** For how many of them nothing had run in the thread: it was stopped, or waited for a person. Default 0. */
  idle?: number;
}

export const ZERO_TALLY: Tally = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };

/**
 * Charges each item for what was spent while it was in progress: an item that starts is marked with the tally
 * of that moment, one that stops gets the difference added to its actuals.
 */
export function chargeActuals({
  before,
  after,
  marks,
  now,
}: {
  before: readonly Todo[];
  after: readonly Todo[];
  marks: Readonly<Record<string, Mark>>;
  now: Mark;
}): { todos: Todo[]; marks: Record<string, Mark> } {
  const running = new Set(before.filter((todo) => todo.status === "in_progress").map((todo) => todo.id));
  const next: Record<string, Mark> = {};
  const todos = after.map((todo) => {
    const mark = running.has(todo.id) ? own(marks, todo.id) : undefined;
    if (todo.status === "in_progress") {
      next[todo.id] = mark ?? now;
      return mark ? todo : { ...todo, actuals: todo.actuals ?? startedAt(now) };
    }
    return mark ? { ...todo, actuals: charged(todo.actuals ?? startedAt(mark), mark, now) } : todo;
  });
  return { todos, marks: next };
}

function startedAt({ at }: Mark): Actuals {
  return { startedAt: at, elapsedMs: 0, ...ZERO_TALLY };
}

function charged(actuals: Actuals, from: Mark, to: Mark): Actuals {
  return {
    startedAt: actuals.startedAt,
    elapsedMs: actuals.elapsedMs + Math.max(0, worked(to) - worked(from)),
    modelCalls: actuals.modelCalls + to.modelCalls - from.modelCalls,
    toolCalls: actuals.toolCalls + to.toolCalls - from.toolCalls,
    inputTokens: actuals.inputTokens + to.inputTokens - from.inputTokens,
    outputTokens: actuals.outputTokens + to.outputTokens - from.outputTokens,
  };
}

function worked({ at, idle = 0 }: Mark): number {
  return at - idle;
}
