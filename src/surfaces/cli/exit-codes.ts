/** What the command's exit code says, by the outcome of a run; `usage` for what was typed wrong. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Stopped with open items. */
  open: 3,
  waiting: 3,
  interrupted: 130,
} as const;
