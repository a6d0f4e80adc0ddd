import { goalOf, type SectionGoal } from "../section.ts";
import { BEST, FLOOR, LEAN, LEAN_LIGHT } from "../systems.ts";
import { bytesAt, loadAt, timeRatio } from "./cells.ts";
import type { Cell } from "./race.ts";
import { MEMORY, NO_SAVER, OFFICIAL, OURS, OURS_POSTGRES, POSTGRES } from "./savers.ts";
import { DEEP, PEER_DEEP_PLAN } from "./systems.ts";

/** The goals of this section, as far as what they compare was measured. */
export function timeGoals(cells: readonly Cell[]): SectionGoal[] {
  const turns = 200;
  const bytes = (system: string, saver: string, at = turns): number | undefined =>
    bytesAt(cells, { system, saver, turns: at });
  const load = (saver: string): number | undefined => loadAt(cells, { system: LEAN, saver, turns });
  return [
    // As a middleware alone, which cannot reach the loop, and with it.
    ...[LEAN, LEAN_LIGHT].flatMap((system) =>
      [NO_SAVER, MEMORY, OURS, OURS_POSTGRES].flatMap((saver) =>
        goal(
          `time per turn of ${system} vs createAgent at 200 turns, ${saver}`,
          timeRatio(cells, { system, saver, turns }, FLOOR),
          saver === NO_SAVER ? 1.15 : 1,
        ),
      ),
    ),
    ...[NO_SAVER, MEMORY, OURS, OFFICIAL, OURS_POSTGRES, POSTGRES].flatMap((saver) =>
      goal(
        `time per turn of createDeepAgent vs deepagents with todoListMiddleware at 200 turns, ${saver}`,
        timeRatio(cells, { system: DEEP, saver, turns }, PEER_DEEP_PLAN),
        0.65,
      ),
    ),
    ...goal(
      "SQLite bytes vs todoListMiddleware with the official saver at 200 turns",
      quotient(bytes(LEAN, OURS), bytes(BEST, OFFICIAL)),
      1 / 50,
    ),
    ...goal("SQLite bytes at 400 turns vs at 200", quotient(bytes(LEAN, OURS, 400), bytes(LEAN, OURS)), 2.2),
    ...goal(
      "Postgres bytes of createDeepAgent vs with the official saver at 200 turns",
      quotient(bytes(DEEP, OURS_POSTGRES), bytes(DEEP, POSTGRES)),
      1 / 16,
    ),
    ...goal(
      "Postgres bytes of createDeepAgent at 400 turns vs at 200",
      quotient(bytes(DEEP, OURS_POSTGRES, 400), bytes(DEEP, OURS_POSTGRES)),
      2.2,
    ),
    ...goal("getState vs the official SQLite saver at 200 turns", quotient(load(OURS), load(OFFICIAL)), 2),
  ];
}

function goal(name: string, value: number | undefined, limit: number): SectionGoal[] {
  return value === undefined ? [] : [goalOf({ name, value, limit })];
}

function quotient(value: number | undefined, other: number | undefined): number | undefined {
  return value === undefined || other === undefined ? undefined : value / other;
}
