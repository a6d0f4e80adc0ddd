import { mean, ratio, share, sum, type Estimate } from "./intervals.ts";
import type { Outcome } from "./run.ts";
import type { System } from "./systems.ts";

/** The figures of the main table. */
export const FIGURES = {
  finished: { title: "every item truly done", better: "more", needsPlan: false },
  lost: { title: "items lost per 100 tasks", better: "less", needsPlan: true },
  falselyCompleted: { title: "falsely completed per 100 tasks", better: "less", needsPlan: true },
  misshown: { title: "work calls shown wrongly", better: "less", needsPlan: true },
  crashed: { title: "crashed runs", better: "less", needsPlan: false },
  looped: { title: "endless runs", better: "less", needsPlan: false },
  tokensPerFinished: { title: "tokens per finished task", better: "less", needsPlan: false },
  modelCalls: { title: "model calls per task", better: "less", needsPlan: false },
} as const;
export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as FigureName[];

/** What one system came to. */
export interface Row {
  system: string;
  isOurs: boolean;
  tasks: number;
  /** Absent where a figure means nothing without a plan. */
  figures: Partial<Record<FigureName, Estimate>>;
  /** Plain counts, for the goals that allow none. */
  lost: number;
  crashed: number;
  looped: number;
  /** The first error of each kind. */
  errors: string[];
}

/** Adds the outcomes of one system up. */
export function rowOf({ name, isOurs, hasPlan }: System, outcomes: readonly Outcome[]): Row {
  const tasks = outcomes.length;
  const count = (is: (outcome: Outcome) => boolean): number => outcomes.filter(is).length;
  const finished = count((outcome) => outcome.finished);
  const crashed = count(({ end }) => end === "crashed");
  const looped = count(({ end }) => end === "looped");
  const ofPlan: Row["figures"] = {
    lost: mean(outcomes.map(({ lost }) => lost * 100)),
    falselyCompleted: mean(outcomes.map(({ falselyCompleted }) => falselyCompleted * 100)),
    misshown: ratio(outcomes.map(({ misshown, workCalls }) => [misshown, workCalls])),
  };
  return {
    system: name,
    isOurs,
    tasks,
    figures: {
      finished: share(finished, tasks),
      ...(hasPlan && ofPlan),
      crashed: share(crashed, tasks),
      looped: share(looped, tasks),
      tokensPerFinished: ratio(outcomes.map(({ tokens, finished: is }) => [tokens, is ? 1 : 0])),
      modelCalls: mean(outcomes.map(({ modelCalls }) => modelCalls)),
    },
    lost: hasPlan ? sum(outcomes.map((outcome) => outcome.lost)) : 0,
    crashed,
    looped,
    errors: [...new Set(outcomes.flatMap(({ error }) => error ?? []))],
  };
}

/** The row with the best value of a figure; the first of several. */
export function bestOf(rows: readonly Row[], figure: FigureName): Row | undefined {
  const sign = FIGURES[figure].better === "more" ? -1 : 1;
  return rows
    .filter((row) => row.figures[figure])
    .toSorted((a, b) => sign * (a.figures[figure]!.value - b.figures[figure]!.value))[0];
}
