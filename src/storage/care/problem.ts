/** Damage in a thread store; without a thread, in the file as a whole. */
export interface Problem {
  thread?: string;
  what: string;
}

/** The progress of a check or repair. */
export interface Progress {
  done: number;
  total: number;
}
