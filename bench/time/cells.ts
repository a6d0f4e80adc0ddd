import type { Cell } from "./race.ts";
import { ratioOf, spreadOf } from "./statistics.ts";

/** Which cell is meant. */
export type At = Pick<Cell, "system" | "saver" | "turns">;

/** The cell, if it was measured. */
export function cellAt(cells: readonly Cell[], at: At): Cell | undefined {
  return cells.find(
    (cell) => cell.system === at.system && cell.saver === at.saver && cell.turns === at.turns,
  );
}

/** How many times as long per turn as another system with the same saver; undefined where one is missing. */
export function timeRatio(cells: readonly Cell[], at: At, other: string): number | undefined {
  const cell = cellAt(cells, at);
  const peer = cellAt(cells, { ...at, system: other });
  return cell && peer && ratioOf(cell.perTurn, peer.perTurn);
}

export function bytesAt(cells: readonly Cell[], at: At): number | undefined {
  return cellAt(cells, at)?.bytes;
}

/** Milliseconds of `getState`. */
export function loadAt(cells: readonly Cell[], at: At): number | undefined {
  const cell = cellAt(cells, at);
  return cell && cell.load.length > 0 ? spreadOf(cell.load).median : undefined;
}
