import { goalOf, type SectionGoal } from "../section.ts";
import { bestOf, FIGURES, type FigureName, type Row } from "./figures.ts";

/** The figures that Holdfast is meant to be first in. Model calls are printed for what they are. */
export const JUDGED: readonly FigureName[] = [
  "finished",
  "lost",
  "falselyCompleted",
  "misshown",
  "crashed",
  "looped",
  "tokensPerFinished",
];

/** Holdfast's best system is first in every figure; none of its systems loses an item, crashes or runs on for ever. */
export function goalsOf(rows: readonly Row[]): SectionGoal[] {
  const ours = rows.filter((row) => row.isOurs);
  const peers = rows.filter((row) => !row.isOurs);
  const first = JUDGED.map((figure) => {
    const best = bestOf(ours, figure)!;
    const rival = bestOf(peers, figure)!;
    return goalOf({
      name: `${FIGURES[figure].title}: ${best.system} against ${rival.system}`,
      value: best.figures[figure]!.value,
      limit: rival.figures[figure]!.value,
      bound: FIGURES[figure].better === "more" ? "at least" : "at most",
    });
  });
  const none = ours.flatMap(({ system, lost, crashed, looped }) => [
    goalOf({ name: `lost items: ${system}`, value: lost, limit: 0 }),
    goalOf({ name: `crashed runs: ${system}`, value: crashed, limit: 0 }),
    goalOf({ name: `endless runs: ${system}`, value: looped, limit: 0 }),
  ]);
  return [...first, ...none];
}
