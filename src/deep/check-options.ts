import { SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import { MCP } from "../mcp/index.ts";
import { BUDGET, PRICES } from "../middleware/budget/index.ts";
import { INTERRUPT_ON } from "../middleware/consent/index.ts";
import { FILES_METHODS, FILES_OPTIONS } from "../middleware/files/index.ts";
import { GOAL } from "../middleware/goal/index.ts";
import { LOOP_GUARD } from "../middleware/loop-guard/index.ts";
import { checkOptions, hasMethods, isObject, FUNCTION } from "../middleware/options/index.ts";
import { PLAN_OPTIONS } from "../middleware/plan/index.ts";
import { REPEATS } from "../middleware/repeats/index.ts";
import { MODEL_SETTINGS } from "../models/index.ts";
import {
  checkCompiled,
  CONCURRENCY,
  SUBAGENT_LIST,
  TERMS,
  type CompiledSubagent,
} from "../subagents/index.ts";
import { EFFORTS } from "../vocabulary.ts";
import { WEB } from "../web/index.ts";
import type { DeepAgentOptions, SubagentSpec } from "./options.ts";

const isMiddleware = (value: unknown): boolean =>
  isObject(value) && typeof (value as { name?: unknown }).name === "string";

/** Options of every agent and sub-agent. */
export const PARTS = {
  model: z.custom<unknown>(
    (value) => typeof value === "string" || hasMethods(value, ["invoke"]),
    'must be a chat model or "provider:name"',
  ),
  effort: z.enum(EFFORTS),
  tools: z.array(z.custom<unknown>(isObject, "must be a tool")),
  systemPrompt: z.union([
    z.string(),
    z.custom<unknown>((value) => SystemMessage.isInstance(value), "must be a text or a SystemMessage"),
  ]),
  plan: z.union([z.literal(false), PLAN_OPTIONS]),
  middleware: z.array(z.custom<unknown>(isMiddleware, "must be a middleware, such as planMiddleware()")),
  responseFormat: z.unknown(),
};

const CHECKPOINTER = z.custom<unknown>(
  (value) => typeof value === "boolean" || isObject(value),
  "must be a checkpointer or a boolean",
);

/** The schemas of `checkpointer` and `store`. */
export const KEEPING = { checkpointer: CHECKPOINTER, store: z.custom<unknown>(isObject, "must be a store") };

const size = z.strictObject({ fraction: z.number(), tokens: z.number(), messages: z.number() }).partial();

export const SUMMARIZATION = z
  .strictObject({
    model: PARTS.model,
    trigger: z.union([z.array(size), size]),
    keep: size,
    summaryPrompt: z.string(),
    userWords: z.number(),
    prices: PRICES,
    folder: z.string(),
  })
  .partial();

const INSTRUCTION_LIST = z.array(
  z.custom<unknown>(
    (value) =>
      typeof value === "string" ||
      typeof value === "function" ||
      (isObject(value) && typeof (value as { file?: unknown }).file === "string"),
    'must be a text, { file: "AGENTS.md" } or a function',
  ),
);

export const SKILL_LIST = z.array(
  z.custom<unknown>(
    (value) =>
      typeof value === "string" ||
      typeof value === "function" ||
      hasMethods(value, FILES_METHODS) ||
      (isObject(value) && hasMethods((value as { files?: unknown }).files, FILES_METHODS)),
    "must be a folder of skills on disk, a file backend, or a skill that was read",
  ),
);

const OPTIONS = z
  .strictObject({
    ...PARTS,
    ...KEEPING,
    ...FILES_OPTIONS.shape,
    systemPrompt: PARTS.systemPrompt,
    mcp: MCP,
    web: WEB,
    instructions: z.union([z.string(), INSTRUCTION_LIST]),
    skills: SKILL_LIST,
    skillsFolder: z.string(),
    subagents: SUBAGENT_LIST,
    generalPurpose: z.boolean(),
    maxConcurrency: CONCURRENCY,
    background: z.boolean(),
    maxDepth: z.union([z.literal(Number.POSITIVE_INFINITY), z.int().min(0, "must be at least 0")]),
    summarization: z.union([z.literal(false), SUMMARIZATION]),
    goal: GOAL,
    loopGuard: LOOP_GUARD,
    budget: BUDGET,
    without: z.array(z.string()),
    interruptOn: INTERRUPT_ON,
    repeats: REPEATS,
    stateSchema: z.unknown(),
    contextSchema: z.unknown(),
    name: z.string(),
    streamTransformers: z.array(FUNCTION),
  } satisfies Record<keyof DeepAgentOptions, z.ZodType>)
  .partial();

const ONLY = z.strictObject({ only: z.array(z.string()) });

const SPEC = z.strictObject({
  ...TERMS,
  ...z.object(PARTS).partial().shape,
  tools: z.array(z.union([z.string(), PARTS.tools.element])).optional(),
  prompt: z.string().optional(),
  modelSettings: MODEL_SETTINGS.optional(),
  permissions: FILES_OPTIONS.shape.permissions,
  interruptOn: INTERRUPT_ON.optional(),
  stateSchema: z.unknown().optional(),
  mcp: z.union([z.boolean(), ONLY, MCP]).optional(),
  web: z.boolean().optional(),
  fileTools: FILES_OPTIONS.shape.fileTools,
  skills: z.union([ONLY, SKILL_LIST]).optional(),
  instructions: INSTRUCTION_LIST.optional(),
  subagents: z.literal(false).optional(),
} satisfies Record<keyof SubagentSpec, z.ZodType>);

/** Throws `invalid-options` for invalid options of `createDeepAgent` and of its sub-agents. */
export function checkDeepOptions(options: DeepAgentOptions): void {
  const name = "createDeepAgent";
  checkOptions(options, { name, schema: OPTIONS });
  checkSpecs(options.subagents ?? [], name);
}

/** The same for descriptions of sub-agents. `name`: the function with the option. */
export function checkSpecs(specs: readonly (SubagentSpec | CompiledSubagent)[], name: string): void {
  for (const [index, spec] of specs.entries()) {
    if ("runnable" in spec) checkCompiled(spec, { name, index });
    else checkOptions(spec, { name, schema: SPEC, at: ["subagents", index] });
  }
}
