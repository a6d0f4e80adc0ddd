import { ACCOUNTINGS, type Accounting } from "./count.ts";
import { LEAN, LEAN_INLINE } from "./systems.ts";
import { rowOf, type Row } from "./table.ts";

/** A figure of the default preset and what it is meant to be. */
export interface Goal {
  name: string;
  accounting: Accounting;
  value: number;
  limit: number;
  /** Whether the value has to be at most or at least the limit. */
  bound: "at most" | "at least";
  met: boolean;
}

/** The goals for `lean`, as it comes and inline, with o200k in both accountings. Needs the rows of 20 and 50 items. */
export function goalsOf(rows: readonly Row[]): Goal[] {
  return [LEAN, LEAN_INLINE].flatMap((system) =>
    ACCOUNTINGS.flatMap((accounting) => goalsFor(rows, system, accounting)),
  );
}

function goalsFor(rows: readonly Row[], system: string, accounting: Accounting): Goal[] {
  const lean = (size: number): Row => rowOf(rows, { system, size, tokenizer: "o200k", accounting });
  const stable = rows.filter((row) => row.system === system).map((row) => row.prefixStable);
  const prefix = system === LEAN ? "" : "inline: ";
  const goal = (name: string, value: number, limit: number, bound: Goal["bound"] = "at most"): Goal => ({
    name: prefix + name,
    accounting,
    value,
    limit,
    bound,
    met: bound === "at most" ? value <= limit : value >= limit,
  });
  return [
    goal("fixed tokens", lean(20).fixed, 400),
    goal("extra model turns at 50 items", lean(50).extraTurns, 0),
    goal("planning vs typical at 20 items", lean(20).vsTypical, 1 / 20),
    goal("planning vs typical at 50 items", lean(50).vsTypical, 1 / 60),
    goal("planning vs best case at 20 items", lean(20).vsBest, 1 / 8),
    goal("planning vs best case at 50 items", lean(50).vsBest, 1 / 20),
    goal("prefix-stable requests", Math.min(...stable), 0.99, "at least"),
  ];
}
