import { plotLines } from "../plot.ts";
import type { SectionPlot } from "../section.ts";
import { BEST, FLOOR, LEAN } from "../systems.ts";
import type { Cell } from "./race.ts";
import { NO_SAVER, OFFICIAL, OURS } from "./savers.ts";
import { spreadOf } from "./statistics.ts";
import { DEEP, LOOP, PEER_DEEP_PLAN } from "./systems.ts";

type Shown = readonly [system: string, saver: string];

const TIMED: readonly Shown[] = [
  [PEER_DEEP_PLAN, OFFICIAL],
  [BEST, OFFICIAL],
  [DEEP, OURS],
  [LEAN, OURS],
  [FLOOR, NO_SAVER],
  [LOOP, NO_SAVER],
];

const STORED: readonly Shown[] = [
  [PEER_DEEP_PLAN, OFFICIAL],
  [BEST, OFFICIAL],
  [LEAN, OFFICIAL],
  [DEEP, OURS],
  [BEST, OURS],
  [LEAN, OURS],
];

/** Time and bytes by the number of turns. */
export function timePlots(cells: readonly Cell[]): SectionPlot[] {
  const plot = (shown: readonly Shown[], title: string, value: (cell: Cell) => number): string =>
    plotLines({
      title,
      across: "turns",
      lines: shown.map(([system, saver]) => ({
        name: `${system}, ${saver}`.replace(" + todoListMiddleware beside", " with todos"),
        points: cells
          .filter((cell) => cell.system === system && cell.saver === saver)
          .map((cell) => ({ x: cell.turns, y: value(cell) })),
      })),
    });
  return [
    { file: "time.svg", svg: plot(TIMED, "Milliseconds per turn", (cell) => spreadOf(cell.perTurn).median) },
    { file: "bytes.svg", svg: plot(STORED, "Bytes stored", (cell) => cell.bytes ?? 0) },
  ];
}
