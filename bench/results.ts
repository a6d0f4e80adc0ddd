import { breakdownOfLean, type Breakdown } from "./breakdown.ts";
import { ACCOUNTINGS } from "./count.ts";
import { goalsOf, type Goal } from "./goals.ts";
import { peerBytes, sqliteBytes, superstepsPerTurn } from "./graph.ts";
import { loadPeers } from "./peers.ts";
import { SYSTEMS } from "./systems.ts";
import { tokenTable, type Row } from "./table.ts";
import { SIZES } from "./task.ts";

export interface Results {
  notes: string[];
  goals: Goal[];
  tokens: Row[];
  breakdown: Breakdown[];
  supersteps: { system: string; perTurn: number }[];
  storage: { turns: number; bytes: number; peerBytes: number }[];
}

/** Measures everything. `quick` leaves out the second tokenizer, two sizes of plan and the long runs. */
export async function measureAll({ quick }: { quick: boolean }): Promise<Results> {
  const { systems: peers, notes } = await loadPeers();
  const systems = [...SYSTEMS, ...peers];
  const tokens = await tokenTable({
    systems,
    sizes: quick ? [5, 20, 50] : SIZES,
    ...(quick && { tokenizers: ["o200k"] as const }),
  });
  const breakdown: Breakdown[] = [];
  for (const accounting of ACCOUNTINGS) {
    for (const size of [20, 50]) breakdown.push(await breakdownOfLean(size, accounting));
  }
  const supersteps: Results["supersteps"] = [];
  for (const system of systems) {
    supersteps.push({ system: system.name, perTurn: await superstepsPerTurn(system) });
  }
  const storage: Results["storage"] = [];
  for (const turns of quick ? [25, 100] : [25, 100, 200, 400]) {
    storage.push({ turns, bytes: await sqliteBytes(turns), peerBytes: await peerBytes(turns) });
  }
  return { notes, goals: goalsOf(tokens), tokens, breakdown, supersteps, storage };
}
