import type { Crowd } from "./crowd.ts";
import type { Cell } from "./race.ts";
import type { StartUp } from "./start-up.ts";
import type { Tracing } from "./tracing.ts";

export interface TimeFigures {
  cells: readonly Cell[];
  crowds: readonly Crowd[];
  supersteps: readonly { system: string; perTurn: number }[];
  tracing: Tracing;
  startUp: readonly StartUp[];
  notes: readonly string[];
}
