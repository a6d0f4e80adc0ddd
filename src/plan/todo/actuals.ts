import { own, type Actuals, type Figures, type Tally, type Todo } from "./todo.ts";

/** A tally at the moment an item started. */
export interface Mark {
  toolCalls: number;
}

export const ZERO_TALLY: Tally = { modelCalls: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0 };
export const NO_FIGURES: Figures = { elapsedMs: 0, ...ZERO_TALLY };

export function sumFigures(a: Figures, b: Figures): Figures {
  return figuresBy((field) => a[field] + b[field]);
}

/** `now` minus `before`, field by field, never below zero. */
export function figuresSince(before: Figures, now: Figures): Figures {
  return figuresBy((field) => Math.max(0, now[field] - before[field]));
}

/** The later of two readings of an item's figures. Figures only grow, and a list from the user may hold old ones. */
export function laterActuals(a: Actuals | undefined, b: Actuals | undefined): Actuals | undefined {
  if (!a || !b) return a ?? b;
  return FIELDS.some((field) => a[field] > b[field]) ? a : b;
}

/** The fields of figures, in the order of a saved row. */
export const FIELDS = ["elapsedMs", "modelCalls", "toolCalls", "inputTokens", "outputTokens"] as const;

/** Builds figures from the value of each field. */
export function figuresBy(valueOf: (field: keyof Figures, index: number) => number): Figures {
  return Object.fromEntries(
    FIELDS.map((field, index) => [field, valueOf(field, index)]),
  ) as unknown as Figures;
}

/** The marks of the items in progress. An item that was already in progress keeps its mark. */
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
  const runningBefore = new Set(idsInProgress(before));
  const { toolCalls } = now;
  return Object.fromEntries(
    idsInProgress(after).map((id) => [
      id,
      (runningBefore.has(id) ? own(marks, id) : undefined) ?? { toolCalls },
    ]),
  );
}

export function idsInProgress(todos: readonly Todo[]): string[] {
  return todos.flatMap(({ id, status }) => (status === "in_progress" ? id : []));
}
