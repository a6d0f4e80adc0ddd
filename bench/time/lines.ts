import { figureLine } from "../lines.ts";
import { BEST, TYPICAL } from "../systems.ts";
import { bytesAt, cellAt, loadAt } from "./cells.ts";
import type { TimeFigures } from "./figures.ts";
import type { Cell } from "./race.ts";
import { OFFICIAL, OURS } from "./savers.ts";
import { PEER_ENTRY } from "./start-up.ts";
import { spreadOf } from "./statistics.ts";
import { DEEP, PEER_DEEP, PEER_DEEP_PLAN } from "./systems.ts";

/**
 * One line per figure. The peer of time is `todoListMiddleware` beside the work, or `deepagents` with it, with the
 * same saver; that of bytes and loading has the official SQLite saver where ours is measured.
 */
export function timeLines({ cells, supersteps, startUp, notes }: TimeFigures): string[] {
  const typical = supersteps.find(({ system }) => system === TYPICAL)?.perTurn;
  const importPeer = startUp.find(({ entry }) => entry === PEER_ENTRY);
  return [
    ...cells.flatMap((cell) => cellLines(cells, cell)),
    ...supersteps.map(({ system, perTurn }) => figureLine(["supersteps-per-turn", system], perTurn, typical)),
    ...startUp.flatMap(({ entry, ...figures }) =>
      (["ms", "rss", "heap"] as const).map((key) =>
        figureLine(["import", entry, key], figures[key].median, importPeer?.[key].median),
      ),
    ),
    ...notes.map((note) => `note: ${note}`),
  ];
}

function cellLines(cells: readonly Cell[], cell: Cell): string[] {
  const { saver, turns, system, bytes } = cell;
  const at = [saver, turns, system];
  const peer = isDeep(system) ? PEER_DEEP_PLAN : BEST;
  const sameSaver = cellAt(cells, { saver, turns, system: peer });
  const official = { saver: saver === OURS ? OFFICIAL : saver, turns, system: peer };
  const load = loadAt(cells, cell);
  return [
    figureLine(
      ["ms-per-turn", ...at],
      spreadOf(cell.perTurn).median,
      sameSaver && spreadOf(sameSaver.perTurn).median,
    ),
    ...(bytes === undefined ? [] : [figureLine(["bytes", ...at], bytes, bytesAt(cells, official))]),
    ...(load === undefined ? [] : [figureLine(["load-ms", ...at], load, loadAt(cells, official))]),
  ];
}

function isDeep(system: string): boolean {
  return [DEEP, PEER_DEEP, PEER_DEEP_PLAN].includes(system);
}
