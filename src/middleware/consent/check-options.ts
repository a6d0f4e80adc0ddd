import { z } from "zod";
import { REPEATS } from "../repeats/check-options.ts";

const isFunction = (value: unknown): boolean => typeof value === "function";

const RULE = z.strictObject({
  allowedDecisions: z.array(z.enum(["approve", "edit", "reject"])).min(1, "must name at least one decision"),
  description: z
    .custom<unknown>(
      (value) => typeof value === "string" || isFunction(value),
      "must be a text or a function that makes one",
    )
    .optional(),
  argsSchema: z.record(z.string(), z.unknown()).optional(),
  when: z.custom<unknown>(isFunction, "must be a function").optional(),
  refuse: z.custom<unknown>(isFunction, "must be a function").optional(),
  notice: z.custom<unknown>(isFunction, "must be a function").optional(),
});

/** LangChain takes a rule that it cannot read for no rule at all, and asks nobody. */
export const INTERRUPT_ON = z.record(z.string(), z.union([z.boolean(), RULE]));

export const CONSENT_OPTIONS = z.strictObject({ interruptOn: INTERRUPT_ON, repeats: REPEATS.optional() });
