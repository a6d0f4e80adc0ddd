import { z } from "zod";
import { checkSpecs, KEEPING, PARTS, SKILL_LIST, SUMMARIZATION } from "../deep/index.ts";
import { MCP } from "../mcp/index.ts";
import { BUDGET } from "../middleware/budget/index.ts";
import { INTERRUPT_ON } from "../middleware/consent/index.ts";
import { FILES_OPTIONS } from "../middleware/files/index.ts";
import { GOAL } from "../middleware/goal/index.ts";
import { LOOP_GUARD } from "../middleware/loop-guard/index.ts";
import { checkOptions, hasMethods, FUNCTION } from "../middleware/options/index.ts";
import { PLAN_OPTIONS } from "../middleware/plan/index.ts";
import { REPEATS } from "../middleware/repeats/index.ts";
import { SUBAGENT_LIST } from "../subagents/index.ts";
import { WEB } from "../web/index.ts";
import type { LeadOptions } from "./options.ts";

const { model, tools, systemPrompt, middleware } = PARTS;
const { permissions, resultLimit } = FILES_OPTIONS.shape;
const atLeastOne = z.number().min(1, "must be at least 1");

const OPTIONS = z
  .strictObject({
    ...KEEPING,
    model,
    models: z.record(z.string(), model),
    unknownModel: z.enum(["refuse", "default"]),
    tools,
    mcp: MCP,
    web: WEB,
    systemPrompt,
    skills: SKILL_LIST,
    baseDir: z.string(),
    sandbox: z
      .strictObject({
        permissions,
        resultLimit,
        provider: z.custom<unknown>(
          (value) => hasMethods(value, ["acquire", "release"]),
          "must be a sandbox provider, such as localSandboxProvider()",
        ),
      })
      .partial(),
    summarization: z.union([z.boolean(), SUMMARIZATION]),
    plan: PLAN_OPTIONS,
    title: z.strictObject({ model, maxLength: atLeastOne, timeout: z.number().min(0) }).partial(),
    goal: GOAL,
    loopGuard: LOOP_GUARD,
    budget: BUDGET,
    subagents: SUBAGENT_LIST,
    background: z.boolean(),
    middleware,
    interruptOn: INTERRUPT_ON,
    repeats: REPEATS,
    onWarning: FUNCTION,
  } satisfies Record<keyof LeadOptions, z.ZodType>)
  .partial();

/** Throws `invalid-options` for invalid options of `makeLeadAgent` and of its sub-agents. */
export function checkLeadOptions(options: LeadOptions): void {
  const name = "makeLeadAgent";
  checkOptions(options, { name, schema: OPTIONS });
  checkSpecs(options.subagents ?? [], name);
}
