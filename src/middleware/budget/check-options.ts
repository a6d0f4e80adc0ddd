import { z } from "zod";
import type { BudgetOptions } from "./options.ts";

const amount = z.number().min(1, "must be at least 1");

/** A budget, or `false` for none. */
export const BUDGET = z.union([
  z.literal(false),
  z
    .strictObject({ modelCalls: amount, tokens: amount } satisfies Record<keyof BudgetOptions, z.ZodType>)
    .partial(),
]);
