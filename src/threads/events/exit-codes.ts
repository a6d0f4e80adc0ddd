import type { RunEvent } from "./events.ts";

/** Exit codes, by a run's outcome. A file of its own: commands that run no agent load it without LangChain. */
export const OUTCOME_CODES = {
  done: 0,
  failed: 1,
  /** Stopped with open items. */
  open: 3,
  waiting: 3,
  interrupted: 130,
} as const satisfies Record<Extract<RunEvent, { type: "run-end" }>["outcome"], number>;
