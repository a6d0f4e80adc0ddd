import { HarnessError } from "../errors.ts";
import type { Prices } from "../middleware/budget/prices.ts";

/** Reads `3,15` or `3,15,0.3`: input, output and cached input. Prices change too often to be built in. */
export function readPrices(text: string | undefined): Prices | undefined {
  if (!text?.trim()) return undefined;
  const [input = Number.NaN, output = Number.NaN, cached = input, ...rest] = text
    .split(",")
    .map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (rest.length > 0 || [input, output, cached].some((price) => !(price >= 0))) {
    const valid = "dollars per million tokens as input,output[,cached], such as 3,15,0.3";
    throw new HarnessError("invalid-options", `HOLDFAST_PRICES is ${JSON.stringify(text)}; write ${valid}.`);
  }
  return { input, output, cached };
}

/** The prices of a model: what the environment says of the one in use, else what settings files say of it. */
export function pricesOf(
  model: string,
  env: Readonly<Record<string, string | undefined>>,
  config: {
    prices?:
      | Readonly<Record<string, { input: number; output: number; cached?: number | undefined }>>
      | undefined;
  },
): Prices | undefined {
  const known = Object.hasOwn(config.prices ?? {}, model) ? config.prices?.[model] : undefined;
  return readPrices(env["HOLDFAST_PRICES"]) ?? (known && { ...known, cached: known.cached ?? known.input });
}

export { costOf, type Prices } from "../middleware/budget/prices.ts";
