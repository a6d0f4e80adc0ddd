/** Something that is wrong in a thread store; without a thread, in the file as such. */
export interface Problem {
  thread?: string;
  what: string;
}

export interface Progress {
  done: number;
  total: number;
}
