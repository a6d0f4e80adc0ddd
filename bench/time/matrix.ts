import { BEST, FLOOR, LEAN, LEAN_INLINE, LEAN_LIGHT } from "../systems.ts";
import type { SaverKind } from "./place.ts";
import type { Product } from "./product.ts";
import { race, type Cell } from "./race.ts";
import { MEMORY, NO_SAVER, OFFICIAL, OURS, OURS_POSTGRES, POSTGRES } from "./savers.ts";
import { DEEP, LOOP, PEER_DEEP, PEER_DEEP_PLAN, type TimedSystem } from "./systems.ts";

/** Which systems race with which saver over which lengths, and for how long. */
interface Heat {
  saver: string;
  turns: readonly number[];
  /** All of them where absent. */
  systems?: readonly string[];
  /** Seconds of repetitions per length. */
  seconds: number;
  /** Rounds of the length that goals are about, however long they take. */
  least?: number;
}

const PLANNED = [LEAN, BEST, DEEP, PEER_DEEP_PLAN];

// The official savers take minutes and hundreds of megabytes for 400 turns: there only what the goals compare.
const FULL: readonly Heat[] = [
  { saver: NO_SAVER, turns: [25, 100, 200, 400], seconds: 20, least: 4 },
  {
    saver: MEMORY,
    turns: [25, 100, 200],
    systems: [FLOOR, LEAN_LIGHT, LEAN_INLINE, ...PLANNED],
    seconds: 15,
    least: 4,
  },
  { saver: MEMORY, turns: [400], systems: [FLOOR, LEAN, LEAN_INLINE], seconds: 0 },
  {
    saver: OURS,
    turns: [25, 100, 200],
    systems: [FLOOR, LEAN_LIGHT, ...PLANNED, PEER_DEEP],
    seconds: 12,
    least: 5,
  },
  { saver: OURS, turns: [400], systems: PLANNED, seconds: 0 },
  { saver: OFFICIAL, turns: [25, 100, 200], systems: PLANNED, seconds: 8 },
  { saver: OFFICIAL, turns: [400], systems: [LEAN, BEST], seconds: 0 },
  { saver: POSTGRES, turns: [25, 100, 200], systems: PLANNED, seconds: 8 },
  { saver: POSTGRES, turns: [400], systems: [LEAN, BEST], seconds: 0 },
  {
    saver: OURS_POSTGRES,
    turns: [25, 100, 200],
    systems: [FLOOR, LEAN_LIGHT, ...PLANNED],
    seconds: 8,
    least: 5,
  },
  { saver: OURS_POSTGRES, turns: [400], systems: [LEAN, DEEP], seconds: 0 },
];

const QUICK: readonly Heat[] = [
  { saver: NO_SAVER, turns: [25], seconds: 0 },
  { saver: NO_SAVER, turns: [100], systems: [LOOP, FLOOR, LEAN], seconds: 1 },
  { saver: MEMORY, turns: [25], systems: [FLOOR, LEAN], seconds: 0 },
  { saver: OURS, turns: [25], systems: PLANNED, seconds: 0 },
  { saver: OURS, turns: [100], systems: [LEAN], seconds: 0 },
  { saver: OFFICIAL, turns: [25], systems: [LEAN, BEST], seconds: 0 },
  { saver: OFFICIAL, turns: [100], systems: [BEST], seconds: 0 },
  { saver: POSTGRES, turns: [25], systems: [LEAN, BEST], seconds: 0 },
  { saver: OURS_POSTGRES, turns: [25], systems: [LEAN, BEST], seconds: 0 },
];

const ROUNDS = 15;
/** The length that goals are about. */
const JUDGED = 200;

/** Runs all heats whose saver is there. */
export async function runHeats({
  product,
  systems,
  savers,
  quick,
  progress,
}: {
  product: Product;
  systems: readonly TimedSystem[];
  savers: readonly SaverKind[];
  quick: boolean;
  progress: (text: string) => void;
}): Promise<Cell[]> {
  const cells: Cell[] = [];
  progress("warm-up");
  for (const saver of savers) {
    // What a saver does is the same for all systems. A quick run has just counted supersteps: its systems are warm.
    const racers = systems.filter(({ name }) => (saver.name === NO_SAVER ? !quick : name === LEAN));
    await race({ product, systems: racers, saver, turns: 20, budget: 0, rounds: 1 });
  }
  for (const heat of quick ? QUICK : FULL) {
    const saver = savers.find(({ name }) => name === heat.saver);
    if (!saver) continue;
    const racers = systems.filter(({ name }) => heat.systems?.includes(name) ?? true);
    for (const turns of heat.turns) {
      progress(`${turns} turns, ${saver.name}`);
      const budget = heat.seconds * 1000;
      const least = turns === JUDGED ? heat.least : undefined;
      const options = { product, systems: racers, saver, turns, budget, rounds: ROUNDS };
      cells.push(...(await race({ ...options, ...(least !== undefined && { least }) })));
    }
  }
  return cells;
}
