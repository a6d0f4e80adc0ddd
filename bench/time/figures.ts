import type { Cell } from "./race.ts";
import type { StartUp } from "./start-up.ts";

export interface TimeFigures {
  cells: readonly Cell[];
  supersteps: readonly { system: string; perTurn: number }[];
  startUp: readonly StartUp[];
  notes: readonly string[];
}
