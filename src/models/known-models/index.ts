import rows from "../known-models.json" with { type: "json" };

/** Prices in US dollars per million tokens, and the context window of a model. */
export interface KnownModel {
  prices: { input: number; output: number; cached?: number; written?: number };
  /** The tokens of a request and its answer. */
  window?: number;
}

type PriceRow = readonly (number | null)[];

/**
 * Looks up a model by `provider:model` in a table that `npm run known-models` refreshes. Ignores a date or `latest` at
 * the end of a name. Azure's models are OpenAI's.
 *
 * @example
 * ```ts
 * import { knownModel } from "holdfast/models";
 *
 * const model = knownModel("openai:gpt-5.1");
 * console.log(model?.prices.input, model?.window);
 * ```
 */
export function knownModel(name: string): KnownModel | undefined {
  const key = name.replace(/^azure:/, "openai:");
  const base = key.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|\d{4}|latest|preview)$/, "");
  const table = rows as Readonly<Record<string, PriceRow>>;
  const row = [key, base, `${base}-preview`]
    .map((one) => (Object.hasOwn(table, one) ? table[one] : undefined))
    .find(Boolean);
  if (!row) return undefined;
  const [input = 0, output = 0, cached, written, window] = row;
  return {
    prices: {
      input: input ?? 0,
      output: output ?? 0,
      cached: typeof cached === "number" ? cached : undefined,
      written: typeof written === "number" ? written : undefined,
    },
    window: typeof window === "number" ? window : undefined,
  };
}
