import { z } from "zod";
import { PRESETS } from "../../plan/index.ts";
import { PRESET_NAMES, STATUSES } from "../../vocabulary.ts";
import { checkOptions, FUNCTION } from "../options/index.ts";
import type { ExactOptions, PlanOptions } from "./options.ts";

const text = z.string().optional();
const atLeastOne = z
  .union([z.literal(Number.POSITIVE_INFINITY), z.number().min(1, "must be at least 1")])
  .optional();
const callback = FUNCTION.optional();
const nameAndText = { name: text, text };

/** The schema of `PlanOptions`, for callers without a compiler. */
export const PLAN_OPTIONS = z
  .strictObject({
    preset: z.enum(PRESET_NAMES),
    systemPrompt: z.string(),
    toolDescription: z.string(),
    updateDescription: z.string(),
    reminders: z.union([
      z.literal(false),
      z.strictObject({
        tag: text,
        persist: z.boolean().optional(),
        contextLoss: z.union([z.boolean(), z.strictObject(nameAndText)]).optional(),
        exit: z
          .union([
            z.boolean(),
            z.strictObject({ ...nameAndText, again: text, max: z.number().min(0).optional() }),
          ])
          .optional(),
        stale: z
          .union([
            z.boolean(),
            z.strictObject({
              ...nameAndText,
              after: atLeastOne,
              backoff: atLeastOne,
              withoutPlan: z.boolean().optional(),
            }),
          ])
          .optional(),
        edited: z.union([z.boolean(), z.strictObject(nameAndText)]).optional(),
      }),
    ]),
    verify: z.union([z.literal(false), callback]),
    verifyTimeout: z.number().positive(),
    approval: z.enum(["first", "always", "never"]),
    reports: z.enum(["call", "inline"]),
    owner: z.string(),
    onPlanChange: callback,
    askTools: z.array(z.string()),
    conversation: z.boolean(),
    now: callback,
    statuses: z
      .array(z.enum(STATUSES))
      .refine((list) => STATUSES.slice(0, 3).every((status) => list.includes(status)), {
        message: "must include pending, in_progress and completed",
      }),
    maxItems: atLeastOne,
    maxInProgress: atLeastOne,
    maxLength: atLeastOne,
    unknownStatus: z.enum(["refuse", "pending"]),
    emptyContent: z.enum(["refuse", "drop"]),
    ids: z.enum(["stable", "sent"]),
    duplicateIds: z.enum(["refuse", "renumber"]),
    unknownIds: z.enum(["refuse", "ignore"]),
    cycles: z.enum(["refuse", "drop"]),
    earlyStart: z.enum(["refuse", "allow"]),
    idle: z.enum(["allow", "refuse", "start"]),
    completed: z.enum(["frozen", "editable"]),
    finalAnswer: z.enum(["complete", "leave"]),
    listField: z.enum(["todos", "items"]),
    contentField: z.enum(["content", "text"]),
    aliases: z.boolean(),
  })
  .partial()
  .refine(({ preset = "lean", reports }) => reports !== "inline" || PRESETS[preset].tools.update, {
    path: ["reports"],
    message: 'must be "call" where the preset has no tool for updates',
  });

/** The options with `exact`. */
export const EXACT_OPTIONS = z.strictObject({
  preset: z.literal("classic"),
  exact: z.literal(true),
  systemPrompt: text,
  toolDescription: text,
});

/** Throws `invalid-options` that names every unknown option and every invalid value. */
export function checkPlanOptions(
  options: ExactOptions | PlanOptions,
  schema: z.ZodObject = PLAN_OPTIONS,
): void {
  checkOptions(options, { name: "planMiddleware", schema });
}
