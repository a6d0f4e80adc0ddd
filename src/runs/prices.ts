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

export { costOf, type Prices } from "../middleware/budget/prices.ts";
