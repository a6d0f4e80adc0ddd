import { breakdownOfLean, type Breakdown } from "./breakdown.ts";
import { ACCOUNTINGS } from "./count.ts";
import { goalsOf } from "./goals.ts";
import { figureLine } from "./lines.ts";
import { loadPeers } from "./peers.ts";
import { plotLines } from "./plot.ts";
import type { Section, SectionOptions, SectionPlot } from "./section.ts";
import { BEST, FLOOR, LEAN, LEAN_INLINE, LEAN_OWN_TURN, SYSTEMS, TYPICAL } from "./systems.ts";
import { rowOf, tokenTable, type Row } from "./table.ts";
import { SIZES } from "./task.ts";
import { tokenReport } from "./token-report.ts";

const PLOTTED = [
  TYPICAL,
  BEST,
  "deepagents + todoListMiddleware own-turn",
  "holdfast classic beside",
  "holdfast checklist beside",
  LEAN,
  LEAN_INLINE,
];

/** What a quick run counts: the systems of the goals, and the peer with everything switched on. */
const QUICK = [
  FLOOR,
  TYPICAL,
  BEST,
  LEAN,
  LEAN_OWN_TURN,
  LEAN_INLINE,
  "deepagents",
  "deepagents + todoListMiddleware own-turn",
];

/** Counts the tokens of planning. The figures are exact: no seed changes them. */
export async function tokenSection({ quick, progress }: SectionOptions): Promise<Section> {
  const { systems: peers, notes } = await loadPeers();
  const all = [...SYSTEMS, ...peers];
  const systems = quick ? all.filter(({ name }) => QUICK.includes(name)) : all;
  const rows: Row[] = [];
  // The goals need 20 and 50 items.
  for (const size of quick ? [20, 50] : SIZES) {
    progress(`plans of ${size} items`);
    rows.push(
      ...(await tokenTable({ systems, sizes: [size], ...(quick && { tokenizers: ["o200k"] as const }) })),
    );
  }
  const breakdown: Breakdown[] = [];
  progress("the parts of lean");
  for (const accounting of ACCOUNTINGS) {
    for (const size of [20, 50]) breakdown.push(await breakdownOfLean(size, accounting));
  }
  const goals = goalsOf(rows);
  return {
    name: "tokens",
    lines: [
      ...rows.flatMap((row) => tokenLines(row, rowOf(rows, { ...row, system: TYPICAL }))),
      ...notes.map((note) => `note: ${note}`),
    ],
    goals: goals.map(({ accounting, name, ...goal }) => ({ ...goal, name: `${name} (${accounting})` })),
    markdown: tokenReport({ rows, breakdown, notes }),
    data: { notes, tokens: rows, breakdown },
    plots: [planningPlot(rows)],
  };
}

/** One line per figure beside `todoListMiddleware` as models use it. */
function tokenLines(row: Row, peer: Row): string[] {
  const at = ["tokens", row.tokenizer, row.accounting, row.size, row.system];
  const fields = [
    "input",
    "output",
    "fixed",
    "turns",
    "planning",
    "prefixStable",
    "money",
    "moneyCached",
  ] as const;
  return fields.map((field) => figureLine([...at, field], row[field], peer[field]));
}

function planningPlot(rows: readonly Row[]): SectionPlot {
  const shown = rows.filter((row) => row.tokenizer === "o200k" && row.accounting === "json");
  const svg = plotLines({
    title: "Planning tokens of a whole run (o200k, chat JSON)",
    across: "items in the plan",
    lines: PLOTTED.map((name) => ({
      name,
      points: shown
        .filter(({ system }) => system === name)
        .map(({ size, planning }) => ({ x: size, y: planning })),
    })),
  });
  return { file: "planning.svg", svg };
}
