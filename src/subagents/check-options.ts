import { z } from "zod";
import { Budget, LIMITS } from "../middleware/budget/index.ts";
import { checkOptions, hasMethods, isObject } from "../middleware/options/index.ts";
import type { PlanParts } from "../middleware/plan/index.ts";
import { type SubagentsOptions, checkNames, type CompiledSubagent, type SubagentTerms } from "./spec.ts";

/** Options of every sub-agent, no matter who built it. */
export const TERMS = {
  name: z.string(),
  description: z.string(),
  timeLimit: z.number().min(1, "must be at least 1 millisecond").optional(),
  budget: LIMITS.pick({ modelCalls: true, tokens: true }).optional(),
  fork: z.boolean().optional(),
} satisfies Record<keyof SubagentTerms, z.ZodType>;

const COMPILED = z.strictObject({
  ...TERMS,
  runnable: z.custom<unknown>(
    (value) => hasMethods(value, ["invoke"]),
    "must be an agent, a graph or another runnable with `invoke`",
  ),
  model: z.string().optional(),
  ownsFiles: z.boolean().optional(),
  stateFields: z.array(z.string()).optional(),
} satisfies Record<keyof CompiledSubagent, z.ZodType>);

/** A list of sub-agents. Each is checked separately, as its options depend on its kind. */
export const SUBAGENT_LIST = z.array(
  z.custom<object>(isObject, "must be an object that describes a sub-agent"),
);

/** The most sub-agents at once. */
export const CONCURRENCY = z.union([
  z.literal(Number.POSITIVE_INFINITY),
  z.int().min(1, "must be at least 1"),
]);

const OPTIONS = z.strictObject({
  subagents: SUBAGENT_LIST,
  maxConcurrency: CONCURRENCY.optional(),
  plan: z.custom<PlanParts>(isObject, "must be the parts of a plan").optional(),
  budget: z.instanceof(Budget).optional(),
  background: z.boolean().optional(),
  isBare: z.boolean().optional(),
  refusal: z.string().optional(),
} satisfies Record<keyof SubagentsOptions, z.ZodType>);

/** Throws `invalid-options` for invalid options of `subagentsMiddleware`. */
export function checkSubagentsOptions(options: SubagentsOptions): void {
  const name = "subagentsMiddleware";
  checkOptions(options, { name, schema: OPTIONS });
  options.subagents.forEach((subagent, index) => checkCompiled(subagent, { name, index }));
  checkNames(options.subagents);
}

/** Throws `invalid-options` for an invalid compiled sub-agent. `name`: the function with the option. */
export function checkCompiled(subagent: object, { name, index }: { name: string; index: number }): void {
  checkOptions(subagent, { name, schema: COMPILED, at: ["subagents", index] });
}
