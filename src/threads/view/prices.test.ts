import { expect, it } from "vitest";
import { NO_TOKENS, sumTokens, usedTokens } from "../../middleware/prices/index.ts";
import { knownModel } from "../../models/known-models/index.ts";
import { costOf, pricesOf, readPrices } from "./prices.ts";

it("prices are dollars per million tokens of input, output and cached input", () => {
  const prices = readPrices("3,15,0.3")!;
  const usage = { inputTokens: 1_000_000, cachedTokens: 500_000, outputTokens: 100_000 };
  expect(costOf(usage, prices)).toBeCloseTo(1.5 + 0.15 + 1.5);
});

it("tokens written to the provider's cache have their own price", () => {
  const usage = usedTokens({
    usage_metadata: {
      input_tokens: 1_000_000,
      output_tokens: 0,
      input_token_details: { cache_read: 500_000, cache_creation: 400_000 },
    },
  });
  expect(costOf(usage, readPrices("3,15,0.3,3.75")!)).toBeCloseTo(0.3 + 0.15 + 1.5);
  expect(costOf(usage, readPrices("3,15,0.3")!)).toBeCloseTo(0.3 + 0.15 + 1.2);
  expect(sumTokens(usage, usage).writtenTokens).toBe(800_000);
  expect(sumTokens(NO_TOKENS, NO_TOKENS)).toEqual(NO_TOKENS);
});

it("cached input costs as much as other input when nothing else is said", () => {
  const usage = { inputTokens: 1_000_000, cachedTokens: 500_000, outputTokens: 0 };
  expect(costOf(usage, readPrices("3,15")!)).toBeCloseTo(3);
  expect(readPrices(undefined)).toBeUndefined();
  expect(readPrices(" ")).toBeUndefined();
});

it.each(["3", "a,b", "1,2,3,4,5", "1,2,3,", "-1,2", ","])("%j is refused with the valid format", (text) => {
  expect(() => readPrices(text)).toThrow("input,output[,cached[,written]]");
});

it("a known model has default prices, and the user's prices override them", () => {
  const prices = { input: 1, output: 2 };
  expect(pricesOf("openai:gpt-5.1", {}, {})).toEqual(knownModel("openai:gpt-5.1")!.prices);
  expect(pricesOf("openai:gpt-5.1", {}, { prices: { "openai:gpt-5.1": prices } })).toEqual(prices);
  expect(pricesOf("openai:gpt-5.1", { HOLDFAST_PRICES: "3,15" }, {})).toMatchObject({ input: 3, output: 15 });
  expect(pricesOf("ollama:qwen3", {}, {})).toBeUndefined();
});
