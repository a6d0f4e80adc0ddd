export interface AttackOptions {
  /** How often to try; each attack has its own number when it is left out. */
  tries?: number;
  /** What chance begins from: the same number makes the same attack. */
  seed: number;
}

export interface AttackResult {
  tries: number;
  failures: number;
  /** What happened, in a few words; with failures, the first of them. */
  notes: string;
}

/** Something that is done to Holdfast again and again, to see whether it holds. */
export interface Attack {
  name: string;
  run: (options: AttackOptions) => Promise<AttackResult>;
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
