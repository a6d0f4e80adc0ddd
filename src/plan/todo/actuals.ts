import { own } from "./own.ts";
import type { Actuals, Todo } from "./todo.ts";

/** A thread's spending so far. Only ever grows. */
export interface Tally {
  modelCalls: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
}

/** A tally with the time that was worked. */
export interface Figures extends Tally {
  elapsedMs: number;
}

/** A tally at the moment an item started. */
export interface Mark {
  toolCalls: number;
}

export const ZERO_TALLY: Tally = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
export const NO_FIGURES: Figures = { elapsedMs: 0, ...ZERO_TALLY };

export function sumFigures(a: Figures, b: Figures): Figures {
  return combined(a, b, (one, other) => one + other);
}

/** The difference of two figures, nowhere below zero. */
export function figuresSince(before: Figures, now: Figures): Figures {
  return combined(now, before, (one, other) => Math.max(0, one - other));
}

/** The later of two readings of an item's figures: they only grow, and a person's list may have old ones. */
export function laterActuals(a: Actuals | undefined, b: Actuals | undefined): Actuals | undefined {
  if (!a || !b) return a ?? b;
  const more = figuresSince(b, a);
  return FIELDS.some((field) => more[field] > 0) ? a : b;
}

/** The fields of figures, in the order of a saved row. */
export const FIELDS = ["elapsedMs", "modelCalls", "toolCalls", "inputTokens", "outputTokens"] as const;

export function figuresBy(of: (field: keyof Figures, at: number) => number): Figures {
  return Object.fromEntries(FIELDS.map((field, at) => [field, of(field, at)])) as unknown as Figures;
}

function combined(a: Figures, b: Figures, of: (one: number, other: number) => number): Figures {
  return figuresBy((field) => of(a[field], b[field]));
}

/** The marks of the items in progress: one that was in progress before keeps its own. */
export function nextMarks({
  before,
  after,
  marks,
  now,
}: {
  before: readonly Todo[];
  after: readonly Todo[];
  marks: Readonly<Record<string, Mark>>;
  now: Mark;
}): Record<string, Mark> {
  const running = new Set(idsInProgress(before));
  const { toolCalls } = now;
  return Object.fromEntries(
    idsInProgress(after).map((id) => [id, (running.has(id) ? own(marks, id) : undefined) ?? { toolCalls }]),
  );
}

export function idsInProgress(todos: readonly Todo[]): string[] {
  return todos.flatMap(({ id, status }) => (status === "in_progress" ? id : []));
}
