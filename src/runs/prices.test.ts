import { expect, it } from "vitest";
import { costOf, readPrices } from "./prices.ts";

it("prices are dollars per million tokens of input, output and cached input", () => {
  const prices = readPrices("3,15,0.3")!;
  const usage = { inputTokens: 1_000_000, cachedTokens: 500_000, outputTokens: 100_000 };
  expect(costOf(usage, prices)).toBeCloseTo(1.5 + 0.15 + 1.5);
});

it("cached input costs as much as other input when nothing else is said", () => {
  expect(readPrices("3,15")).toEqual({ input: 3, output: 15, cached: 3 });
  expect(readPrices(undefined)).toBeUndefined();
  expect(readPrices(" ")).toBeUndefined();
});

it.each(["3", "a,b", "1,2,3,4", "-1,2", ","])("%j is refused with what is valid", (text) => {
  expect(() => readPrices(text)).toThrow("input,output[,cached]");
});
