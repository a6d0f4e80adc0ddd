import { z } from "zod";
import type { BudgetOptions, Limits } from "./options.ts";

const amount = z.number().min(1, "must be at least 1");
const price = z.number().min(0, "must be at least 0");

export const PRICES = z.strictObject({
  input: price,
  output: price,
  cached: price.optional(),
  written: price.optional(),
});

/** Limits of a run, an item or a sub-agent. */
export const LIMITS = z.strictObject({
  modelCalls: amount.optional(),
  tokens: amount.optional(),
  cost: z.number().gt(0, "must be above 0").optional(),
  ms: amount.optional(),
} satisfies Record<keyof Limits, z.ZodType>);

export const BUDGET_LIMITS = z
  .strictObject({
    ...LIMITS.shape,
    perItem: LIMITS.optional(),
    prices: PRICES.optional(),
  } satisfies Record<keyof BudgetOptions, z.ZodType>)
  .refine(({ cost, perItem, prices }) => prices || (cost ?? perItem?.cost) === undefined, {
    message:
      'has a cost and needs prices, in dollars per million tokens: { input, output, cached, written }; createDeepAgent knows those of many models by "provider:name"',
  });

export const BUDGET = z.union([z.literal(false), BUDGET_LIMITS]);
