import { OUTCOME_CODES } from "../../threads/events/index.ts";

/** Exit codes of the command, by the outcome of a run; `usage` for invalid arguments. */
export const EXIT = { ...OUTCOME_CODES, usage: 2 } as const;
