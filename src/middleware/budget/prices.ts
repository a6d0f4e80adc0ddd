/** US dollars per million tokens. */
export interface Prices {
  input: number;
  output: number;
  /** Of input that the provider had in its cache. */
  cached: number;
}

/** Tokens that were used. */
export interface UsedTokens {
  inputTokens: number;
  outputTokens: number;
  /** The part of `inputTokens` that came from the provider's cache. */
  cachedTokens: number;
}

const MILLION = 1_000_000;

export function costOf({ inputTokens, outputTokens, cachedTokens }: UsedTokens, prices: Prices): number {
  const fresh = Math.max(0, inputTokens - cachedTokens);
  return (fresh * prices.input + cachedTokens * prices.cached + outputTokens * prices.output) / MILLION;
}
