import { ACCOUNTINGS, Counter, TOKENIZERS, type Accounting, type TokenizerName } from "./count.ts";
import { BEST, TYPICAL, type System } from "./systems.ts";
import { measure, record, type TokenFigures } from "./tokens.ts";

/** The figures of one system on one plan, beside its floor and its peers. */
export interface Row extends TokenFigures {
  system: string;
  size: number;
  tokenizer: TokenizerName;
  accounting: Accounting;
  /** Prompt and tools that planning adds to every request. */
  fixed: number;
  /** Model turns that planning adds. */
  extraTurns: number;
  /** Input and output tokens that planning adds. */
  planning: number;
  /** Planning tokens as a share of `todoListMiddleware`'s, whose model reports in turns of its own. */
  vsTypical: number;
  /** The same, where it reports beside its work calls. */
  vsBest: number;
}

export interface TableOptions {
  systems: readonly System[];
  sizes: readonly number[];
  tokenizers?: readonly TokenizerName[];
}

/** Runs every system at every size and counts each run with every tokenizer in both accountings. */
export async function tokenTable({ systems, sizes, tokenizers }: TableOptions): Promise<Row[]> {
  const names = tokenizers ?? (Object.keys(TOKENIZERS) as TokenizerName[]);
  const counters = names.flatMap((tokenizer) =>
    ACCOUNTINGS.map((accounting) => ({ tokenizer, accounting, counter: new Counter(tokenizer, accounting) })),
  );
  const rows: Row[] = [];
  for (const size of sizes) {
    const fitting = systems.filter(({ maxSize = Infinity }) => size <= maxSize);
    const measured = await Promise.all(
      fitting.map(async (system) => [system, await record(system, size)] as const),
    );
    for (const { tokenizer, accounting, counter } of counters) {
      const figures = new Map(measured.map(([system, run]) => [system.name, measure(run, counter)]));
      const planning = costs(fitting, figures);
      for (const system of fitting) {
        const own = figures.get(system.name)!;
        const floor = figures.get(system.floor)!;
        const cost = planning.get(system.name)!;
        rows.push({
          system: system.name,
          size,
          tokenizer,
          accounting,
          fixed: own.first - floor.first,
          extraTurns: own.turns - floor.turns,
          planning: cost,
          vsTypical: cost / planning.get(TYPICAL)!,
          vsBest: cost / planning.get(BEST)!,
          ...own,
        });
      }
    }
  }
  return rows;
}

/** The row of a system; throws when it was not measured. */
export function rowOf(
  rows: readonly Row[],
  of: Pick<Row, "system" | "size" | "tokenizer" | "accounting">,
): Row {
  const found = rows.find(
    (row) =>
      row.system === of.system &&
      row.size === of.size &&
      row.tokenizer === of.tokenizer &&
      row.accounting === of.accounting,
  );
  if (!found)
    throw new Error(`No figures for ${of.system} at ${of.size} items (${of.tokenizer}, ${of.accounting}).`);
  return found;
}

function costs(systems: readonly System[], figures: Map<string, TokenFigures>): Map<string, number> {
  const total = (name: string): number => figures.get(name)!.input + figures.get(name)!.output;
  return new Map(systems.map(({ name, floor }) => [name, total(name) - total(floor)]));
}
