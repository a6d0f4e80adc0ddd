/** A conversation, as each client has it. */
export interface Chat {
  send(message: string): Promise<Seen>;
  approve(): Promise<Seen>;
  stop(): Promise<void>;
}

/** The parts of a run that a client was shown. */
export interface Seen {
  text: string;
  /** How many items of the plan are done, the last that was heard of it. */
  plan?: string;
  /** The tools whose calls have ended. */
  results: string[];
  /** The tool that waits for an approval. */
  question?: string;
}
