import { superstepsOf, superstepsPerTurn } from "../graph.ts";
import { loadPeers } from "../peers.ts";
import type { Section, SectionOptions } from "../section.ts";
import { SYSTEMS } from "../systems.ts";
import type { TimeFigures } from "./figures.ts";
import { timeGoals } from "./goals.ts";
import { timeLines } from "./lines.ts";
import { runHeats } from "./matrix.ts";
import { timePlots } from "./plots.ts";
import { loadProduct } from "./product.ts";
import { timeReport } from "./report.ts";
import { findSavers } from "./savers.ts";
import { longScript } from "./script.ts";
import { measureStartUp } from "./start-up.ts";
import { DEEP, timedSystems, type TimedSystem } from "./systems.ts";

/** Measures time, supersteps, stored bytes and imports. No seed changes them, and no two runs are quite the same. */
export async function timeSection({ quick, progress }: SectionOptions): Promise<Section> {
  const product = await loadProduct();
  const systems = await timedSystems(product);
  const { savers, notes, stop } = await findSavers(product);
  progress("imports in fresh processes");
  const startUp = measureStartUp(quick ? 1 : 10);
  progress("supersteps");
  const supersteps = await countSupersteps(systems, quick);
  const cells = await runHeats({ product, systems, savers, quick, progress });
  await stop();
  const figures: TimeFigures = { cells, supersteps, startUp, notes };
  return {
    name: "time",
    lines: timeLines(figures),
    goals: timeGoals(cells),
    markdown: timeReport(figures),
    data: figures,
    plots: timePlots(cells),
  };
}

/** They do not depend on the machine; a quick run counts the systems that are timed. */
async function countSupersteps(
  timed: readonly TimedSystem[],
  quick: boolean,
): Promise<TimeFigures["supersteps"]> {
  const { systems: peers } = await loadPeers();
  const counted: { system: string; perTurn: number }[] = [];
  for (const system of [...SYSTEMS, ...peers]) {
    if (quick && !timed.some(({ name }) => name === system.name)) continue;
    counted.push({ system: system.name, perTurn: await superstepsPerTurn(system) });
  }
  const deep = timed.find(({ name }) => name === DEEP)!;
  const perTurn = await superstepsOf(longScript(20, deep.plan), deep.create);
  return [...counted, { system: DEEP, perTurn }];
}
