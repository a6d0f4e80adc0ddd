/** US dollars per million tokens: a typical price list of a large model. */
export const PRICES = { input: 3, cached: 0.3, output: 15 } as const;

/** The price of tokens, of which `cached` input tokens are read from the provider's prompt cache. */
export function costOf({ input, cached, output }: { input: number; cached: number; output: number }): number {
  const millionths = (input - cached) * PRICES.input + cached * PRICES.cached + output * PRICES.output;
  return millionths / 1_000_000;
}
