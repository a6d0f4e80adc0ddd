import type { RunEvent } from "../events/index.ts";
import type { Question } from "../questions/index.ts";

/** A run event; live ones have a number, replayed ones have none. */
export type StampedEvent = RunEvent & { run?: string; n?: number };

export interface ThreadEvents {
  events: readonly StampedEvent[];
  questions: readonly Question[];
  /** Live events with a higher number follow. */
  last?: number;
}
