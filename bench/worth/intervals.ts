/** A figure with its 95% confidence interval. */
export interface Estimate {
  value: number;
  low: number;
  high: number;
}

const Z = 1.96;
const RESAMPLES = 500;

/** A share, with Wilson's interval. */
export function share(count: number, total: number): Estimate {
  const p = count / total;
  const spread = Z * Math.sqrt((p * (1 - p)) / total + (Z * Z) / (4 * total * total));
  const scale = 1 + (Z * Z) / total;
  const middle = p + (Z * Z) / (2 * total);
  return {
    value: p,
    low: count === 0 ? 0 : (middle - spread) / scale,
    high: count === total ? 1 : (middle + spread) / scale,
  };
}

/** A mean, with the normal interval. */
export function mean(values: readonly number[]): Estimate {
  const value = sum(values) / values.length;
  const variance = sum(values.map((one) => (one - value) ** 2)) / Math.max(1, values.length - 1);
  const spread = Z * Math.sqrt(variance / values.length);
  return { value, low: Math.max(0, value - spread), high: value + spread };
}

/**
 * The difference between two shares of the same tasks, of which one alone had `more` and the other alone `less`, with
 * Agresti and Min's interval: it has a width also where nothing differs.
 */
export function pairedDifference(more: number, less: number, total: number): Estimate {
  const [b, c, n] = [more + 0.5, less + 0.5, total + 2];
  const middle = (b - c) / n;
  const spread = (Z * Math.sqrt(b + c - (b - c) ** 2 / n)) / n;
  return {
    value: (more - less) / total,
    low: Math.max(-1, middle - spread),
    high: Math.min(1, middle + spread),
  };
}

/** A ratio of two sums, with a bootstrap interval over the pairs. The resampling is the same in every run. */
export function ratio(pairs: readonly (readonly [number, number])[]): Estimate {
  const random = generator(1);
  const of = (sample: readonly (readonly [number, number])[]): number =>
    sum(sample.map(([part]) => part)) / sum(sample.map(([, whole]) => whole));
  const resampled = Array.from({ length: RESAMPLES }, () =>
    of(pairs.map(() => pairs[Math.floor(random() * pairs.length)]!)),
  ).toSorted((a, b) => a - b);
  const at = (quantile: number): number => resampled[Math.round(quantile * (RESAMPLES - 1))]!;
  return { value: of(pairs), low: at(0.025), high: at(0.975) };
}

/** Adds numbers up. */
export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Mulberry32: small, fast and good enough to resample with. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
