import { z } from "zod";

export const ORDERED_CALLS_OPTIONS = z.strictObject({
  tools: z.record(z.string(), z.enum(["read", "change", "parallel", "free"])).optional(),
  withhold: z
    .union([
      z.literal(false),
      z.custom<unknown>((value) => typeof value === "function", "must be false or a function"),
    ])
    .optional(),
  systemPrompt: z.string().optional(),
  now: z.custom<unknown>((value) => typeof value === "function", "must be a function").optional(),
});
