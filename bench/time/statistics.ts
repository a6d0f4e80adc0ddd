/** A figure that was measured several times. */
export interface Spread {
  median: number;
  /** The quartiles. */
  low: number;
  high: number;
  samples: number;
}

/** Median and quartiles. Needs at least one sample. */
export function spreadOf(samples: readonly number[]): Spread {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const place = (sorted.length - 1) * share;
    const below = sorted[Math.floor(place)]!;
    return below + (sorted[Math.ceil(place)]! - below) * (place % 1);
  };
  return { median: at(0.5), low: at(0.25), high: at(0.75), samples: samples.length };
}

/**
 * How many times as long one system takes as another: the median of the ratios of runs that stood beside each
 * other, so that what slowed the machine down for a while slowed both.
 */
export function ratioOf(samples: readonly number[], others: readonly number[]): number {
  const pairs = Math.min(samples.length, others.length);
  return spreadOf(Array.from({ length: pairs }, (_, at) => samples[at]! / others[at]!)).median;
}
