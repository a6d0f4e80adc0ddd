import { OUTCOME_CODES } from "../../threads/events/exit-codes.ts";

/** What the command's exit code says, by the outcome of a run; `usage` for what was typed wrong. */
export const EXIT = { ...OUTCOME_CODES, usage: 2 } as const;
