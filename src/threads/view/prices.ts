import { HarnessError } from "../../errors.ts";
import type { Prices } from "../../middleware/prices/index.ts";
import { knownModel } from "../../models/known-models/index.ts";

/**
 * Reads `3,15`, `3,15,0.3` or `3,15,0.3,3.75`: input, output, input out of the provider's cache and into it.
 */
export function readPrices(text: string | undefined): Prices | undefined {
  if (!text?.trim()) return undefined;
  const [input = Number.NaN, output = Number.NaN, cached, written, ...rest] = text
    .split(",")
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (rest.length > 0 || [input, output, cached ?? 0, written ?? 0].some((price) => !(price >= 0))) {
    const valid = "dollars per million tokens as input,output[,cached[,written]], such as 3,15,0.3,3.75";
    throw new HarnessError("invalid-options", `HOLDFAST_PRICES is ${JSON.stringify(text)}; write ${valid}.`);
  }
  return { input, output, cached, written };
}

/** The prices of a model: those of the environment, else of settings files, else of the built-in table. */
export function pricesOf(
  model: string,
  env: Readonly<Record<string, string | undefined>>,
  { prices = {} }: { prices?: Readonly<Record<string, Prices>> },
): Prices | undefined {
  const own = Object.hasOwn(prices, model) ? prices[model] : undefined;
  return readPrices(env["HOLDFAST_PRICES"]) ?? own ?? knownModel(model)?.prices;
}

export { costOf, type Prices } from "../../middleware/prices/index.ts";
