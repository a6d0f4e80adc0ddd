import { figureLine } from "../lines.ts";
import type { Section, SectionOptions } from "../section.ts";
import { alone, inProcesses } from "./crew.ts";
import { FIGURE_NAMES, type Row } from "./figures.ts";
import { goalsOf } from "./goals.ts";
import { measure } from "./measure.ts";
import { loadPeers } from "./peers.ts";
import { plotFinished } from "./plot.ts";
import { PLOT_FILE, report } from "./report.ts";
import { SYSTEMS } from "./systems.ts";

const FULL = { all: 1000, alone: 30, longer: 300, none: 30 };
const QUICK = { all: 12, alone: 0, longer: 0, none: 1 };
const PEER = "todoListMiddleware";

/** What a plan is worth: every system on the same tasks, under a model that fails in documented ways. */
export async function worthSection({ quick, seed, progress }: SectionOptions): Promise<Section> {
  const { systems: peers, notes } = await loadPeers();
  const systems = [...SYSTEMS, ...peers];
  // A quick run is over before other processes have loaded their packages.
  const crew = quick ? alone(systems) : inProcesses();
  const results = await measure(systems, crew, { seed, tasks: quick ? QUICK : FULL, progress });
  crew.close();
  const goals = goalsOf(results.rows);
  return {
    name: "worth",
    lines: [...figureLines(results.rows), ...notes.map((note) => `note: ${note}`)],
    goals,
    markdown: report(results, { goals, seed, notes }),
    data: results,
    plots: [{ file: PLOT_FILE, svg: plotFinished(results.rows) }],
  };
}

function figureLines(rows: readonly Row[]): string[] {
  const peer = rows.find(({ system }) => system === PEER)!;
  return rows.flatMap(({ system, figures }) =>
    FIGURE_NAMES.flatMap((figure) => {
      const own = figures[figure];
      // Nothing is a multiple of none.
      const theirs = peer.figures[figure]?.value || undefined;
      return own ? figureLine(["worth", system, figure], own.value, theirs) : [];
    }),
  );
}
