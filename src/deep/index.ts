import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createAgent, type AnyAgentMiddleware } from "langchain";
import { HarnessError } from "../errors.ts";
import type { PermissionRule } from "../files/index.ts";
import { mcpMiddleware, FIND_TOOLS, withServers } from "../mcp/index.ts";
import { brokenCallsMiddleware } from "../middleware/broken-calls/index.ts";
import { Budget, STEP_LIMIT, type BudgetOptions, budgetMiddleware } from "../middleware/budget/index.ts";
import { consentMiddleware, repeatsMiddleware } from "../middleware/consent/index.ts";
import { danglingCallsMiddleware } from "../middleware/dangling-calls/index.ts";
import { emptyAnswersMiddleware } from "../middleware/empty-answers/index.ts";
import {
  runsCommands,
  stateBackend,
  Workspace,
  filesMiddlewareOf,
  fileToolNames,
} from "../middleware/files/index.ts";
import { goalMiddleware } from "../middleware/goal/index.ts";
import { instructionsMiddleware } from "../middleware/instructions/index.ts";
import { lightLoop } from "../middleware/light-loop/index.ts";
import { loopGuardMiddleware } from "../middleware/loop-guard/index.ts";
import { orderedCallsMiddleware } from "../middleware/ordered-calls/index.ts";
import { planMiddlewareOf, planParts } from "../middleware/plan/index.ts";
import { promptCachingMiddleware } from "../middleware/prompt-caching/index.ts";
import { type RepeatOptions, FILES_IN_THREAD } from "../middleware/repeats/index.ts";
import { secretsMiddleware } from "../middleware/secrets/index.ts";
import { SkillLibrary, skillsMiddleware } from "../middleware/skills/index.ts";
import { summarizationMiddleware } from "../middleware/summarization/index.ts";
import { joinedPrompt } from "../middleware/text/index.ts";
import { toolErrors } from "../middleware/tool-errors/index.ts";
import { toModel, withSettings, withEffort } from "../models/index.ts";
import { knownModel } from "../models/known-models/index.ts";
import {
  steeringMiddleware,
  FORK_REFUSAL,
  GENERAL_PURPOSE_DESCRIPTION,
  subagentsMiddleware,
  type CompiledSubagent,
} from "../subagents/index.ts";
import { webToolsOf } from "../web/index.ts";
import { checkDeepOptions } from "./check-options.ts";
import { DEEP_SYSTEM_PROMPT } from "./deep.prompt.ts";
import { compiledOf, inherited, picked, promptOf, readerOf, sharedFields } from "./inherited.ts";
import {
  DEFAULT_MIDDLEWARE,
  type AnyTool,
  type DeepAgentOptions,
  type DefaultMiddlewareName,
  type SubagentSpec,
} from "./options.ts";
import type { CreateDeepAgent } from "./types.ts";

export { checkSpecs, KEEPING, PARTS, SKILL_LIST, SUMMARIZATION } from "./check-options.ts";
export { compiledOf, inherited, picked } from "./inherited.ts";
export type { AnyTool, DeepAgentOptions, DefaultMiddlewareName, SubagentSpec } from "./options.ts";
export type { CreateAgent } from "./types.ts";

/**
 * Builds a LangChain agent that plans, keeps files and hands work to sub-agents. Everything the result does
 * is a LangChain agent's: `invoke`, `stream`, `streamEvents`, `graph.getState`.
 */
export const createDeepAgent: CreateDeepAgent = ((given: DeepAgentOptions = {}) => {
  const options = withKnownPrices(given);
  checkDeepOptions(options);
  return assemble(options, { depth: 0, budget: new Budget(options.budget) });
}) as never;

/** Builds a deep agent that works for another agent, on that one's budget. */
export const createHelper: CreateDeepAgent = ((options: DeepAgentOptions) => {
  checkDeepOptions(options);
  return assemble(options, { depth: 1, budget: new Budget(false) });
}) as never;

/** A budget without prices has those of the table for a model that is given by its name. */
function withKnownPrices(options: DeepAgentOptions): DeepAgentOptions {
  const { budget, model } = options ?? {};
  const isPriced = typeof budget !== "object" || budget?.prices;
  const prices = isPriced || typeof model !== "string" ? undefined : knownModel(model)?.prices;
  return prices ? { ...options, budget: { ...(budget as BudgetOptions), prices } } : options;
}

const GENERAL_PURPOSE = "general-purpose";

/** Where in the tree of agents one stands. */
interface Place {
  depth: number;
  /** One for the whole tree. */
  budget: Budget;
  /** The rules for files of the agents above that have others than this one. */
  permissions?: readonly (readonly PermissionRule[])[];
  /** Has its parent's conversation and, so that its requests begin alike, the `task` tool; it may not use that. */
  isFork?: boolean;
}

function assemble(given: DeepAgentOptions, place: Place): object {
  const options = withServers(given, "createDeepAgent");
  const { depth, budget, isFork = false } = place;
  const model = withEffort(toModel(options.model), options.effort, warnOfEffort);
  const tools = [...(options.tools ?? []), ...webToolsOf(options.web)];
  const skills = libraryOf(options);
  const { folder: historyFolder, ...summaries } = options.summarization || {};
  const workspace = new Workspace(options, { skills, above: place.permissions, historyFolder });
  const plan = options.plan === false ? undefined : planParts(options.plan);
  const mayDelegate = depth < (options.maxDepth ?? 1);
  const subagents =
    mayDelegate || isFork
      ? // They have the skills that were read here.
        compile({ ...options, ...(skills && { skills: [skills.placed] }) }, model, {
          ...place,
          depth: depth + 1,
          isFork: false,
        })
      : [];
  const delegating = options.background ? ["task", "background"] : ["task"];
  checkToolNames(tools, [
    ...(plan?.setup.toolNames ?? []),
    ...fileToolNames(workspace, options.fileTools),
    ...delegating,
    ...(options.mcp ? [FIND_TOOLS] : []),
  ]);

  const { maxConcurrency, summarization, interruptOn, loopGuard } = options;
  const instructions = typeof options.instructions === "object" ? options.instructions : [];
  const isReplaced = isGiven("PlanMiddleware", options);
  const hasOwnPlan = plan !== undefined && !isReplaced && !isLeftOut("PlanMiddleware", options);
  const repeats = repeatsOf(options);
  const defaults: AnyAgentMiddleware[] = [
    ...(options.goal ? [goalMiddleware(options.goal, { budget, model }) as AnyAgentMiddleware] : []),
    ...(summarization === false ? [] : [summarizationMiddleware(summaries, { budget })]),
    toolErrors(),
    ...(depth > 0 ? [steeringMiddleware() as AnyAgentMiddleware] : []),
    ...(options.mcp ? [mcpMiddleware(options.mcp) as AnyAgentMiddleware] : []),
    orderedCallsMiddleware(plan ? { now: plan.setup.now } : {}) as AnyAgentMiddleware,
    ...(plan ? [planMiddlewareOf(plan)] : []),
    filesMiddlewareOf(workspace, {
      model,
      ...picked(options, ["media", "resultLimit", "resultFolder", "fileTools"]),
    }),
    ...(instructions.length > 0 ? [instructionsMiddleware(instructions) as AnyAgentMiddleware] : []),
    ...(skills ? [skillsMiddleware(skills, depth > 0 && !isFork ? "helper" : "agent")] : []),
    ...(subagents.length > 0
      ? [
          subagentsMiddleware({
            subagents,
            plan: hasOwnPlan ? plan : undefined,
            budget,
            ...picked(options, ["background"]),
            ...(maxConcurrency !== undefined && { maxConcurrency }),
            ...(!mayDelegate && { refusal: FORK_REFUSAL }),
          }),
        ]
      : []),
    ...(interruptOn ? [consentMiddleware({ interruptOn, repeats }) as AnyAgentMiddleware] : []),
    ...(repeats && !hasOwnConsent(options) ? [repeatsMiddleware(repeats) as AnyAgentMiddleware] : []),
    ...(loopGuard === false ? [] : [loopGuardMiddleware(loopGuard)]),
    ...(hasOwnPlan || isReplaced ? [] : [brokenCallsMiddleware()]),
    danglingCallsMiddleware(),
    emptyAnswersMiddleware(),
    promptCachingMiddleware(),
    budgetMiddleware(budget),
    secretsMiddleware(),
  ];
  const agent = createAgent({
    model,
    tools,
    systemPrompt: joinedPrompt(promptOf(options), DEEP_SYSTEM_PROMPT),
    middleware: arranged(defaults, options),
    ...picked(options, ["stateSchema", "contextSchema", "checkpointer", "store", "responseFormat", "name"]),
    ...picked(options, ["streamTransformers"]),
  } as Parameters<typeof createAgent>[0]);
  return lightLoop(agent.withConfig({ recursionLimit: STEP_LIMIT }));
}

function warnOfEffort(text: string): void {
  process.emitWarning(`createDeepAgent: effort: ${text}`);
}

function libraryOf(options: DeepAgentOptions): SkillLibrary | undefined {
  const { skills = [], skillsFolder: folder } = options;
  if (skills.length === 0) return undefined;
  const onNote = (note: string): void => process.emitWarning(`createDeepAgent: ${note}`);
  return new SkillLibrary(skills, { folder, onHost: runsCommands(options), onNote });
}

/** The policy for calls that were under way when a run was stopped. */
function repeatsOf(options: DeepAgentOptions): false | RepeatOptions {
  const { repeats = {}, backend = stateBackend } = options;
  if (repeats === false || isLeftOut("RepeatsMiddleware", options)) return false;
  return backend === stateBackend ? { ...FILES_IN_THREAD, ...repeats } : repeats;
}

/** Whether the middleware that asks for consent is there, and ours: it sees to repetitions, too. */
function hasOwnConsent(options: DeepAgentOptions): boolean {
  const name = "HumanInTheLoopMiddleware";
  return options.interruptOn !== undefined && !isGiven(name, options) && !isLeftOut(name, options);
}

function isGiven(wanted: DefaultMiddlewareName, { middleware = [] }: DeepAgentOptions): boolean {
  return middleware.some(({ name }) => name === wanted);
}

function isLeftOut(name: DefaultMiddlewareName, { without = [] }: DeepAgentOptions): boolean {
  return without.includes(name);
}

/**
 * Default middleware with the user's in the place of those it names, the rest in front of the innermost: behind the one
 * that asks for consent, which a person gives once however often a call is tried.
 */
function arranged(
  defaults: AnyAgentMiddleware[],
  { middleware = [], without = [] }: DeepAgentOptions,
): AnyAgentMiddleware[] {
  for (const name of without) {
    if (!DEFAULT_MIDDLEWARE.includes(name)) {
      fail(
        `without names "${name}", which is no default middleware; there are ${DEFAULT_MIDDLEWARE.join(", ")}`,
      );
    }
  }
  const given = new Map(middleware.map((one) => [one.name, one]));
  const names = defaults.map((one) => one.name);
  if (given.has(THEIR_PLAN) && names.includes("PlanMiddleware") && !without.includes("PlanMiddleware")) {
    fail(`two plans: remove ${THEIR_PLAN} from middleware, or leave ours out with plan: false`);
  }
  const own = middleware.filter((one) => !names.includes(one.name));
  const kept = defaults
    .filter((one) => !without.some((name) => name === one.name))
    .map((one) => given.get(one.name) ?? one);
  const end = kept.findIndex((one) => INNERMOST.some((name) => name === one.name));
  const consent = kept.findIndex((one) => one.name === "HumanInTheLoopMiddleware");
  // Nobody is asked for consent to a call that a question to the user holds back.
  const first = own.filter((one) => consent >= 0 && one.name === "ClarificationMiddleware");
  const rest = own.filter((one) => !first.includes(one));
  return kept
    .toSpliced(end < 0 ? kept.length : end, 0, ...rest)
    .toSpliced(consent < 0 ? kept.length : consent, 0, ...first);
}

/** LangChain's own plan has the same tool and state as ours. */
const THEIR_PLAN = "todoListMiddleware";

/** These see every request as it goes out, and every one that others repeat. */
const INNERMOST = DEFAULT_MIDDLEWARE.slice(DEFAULT_MIDDLEWARE.indexOf("DanglingCallsMiddleware"));

/** Makes runnable sub-agents of their descriptions; each is built when it is first used. */
function compile(options: DeepAgentOptions, model: BaseChatModel, place: Place): CompiledSubagent[] {
  const specs = options.subagents ?? [];
  const general: SubagentSpec = {
    name: GENERAL_PURPOSE,
    description: GENERAL_PURPOSE_DESCRIPTION,
    mcp: true,
  };
  const reader = readerOf(options);
  const builtIn = options.generalPurpose === false ? [] : [general, ...(reader ? [reader] : [])];
  const all = [...builtIn.filter(({ name }) => specs.every((spec) => spec.name !== name)), ...specs];
  return all.map((spec) => {
    if ("runnable" in spec) return spec;
    // Not when it is built: settings that cannot work are refused with the options.
    const own = withSettings(
      withEffort(spec.model === undefined ? model : toModel(spec.model), spec.effort, warnOfEffort),
      spec.modelSettings ?? {},
      `createDeepAgent: subagents.${spec.name}`,
    );
    const { fork = false, permissions } = spec;
    const above = permissions && options.permissions ? [options.permissions] : [];
    const ownPlace = {
      ...place,
      permissions: [...(place.permissions ?? []), ...above],
      isFork: fork,
    };
    const ownOptions = inherited(spec, options, own);
    let agent: CompiledSubagent["runnable"] | undefined;
    const build = (): CompiledSubagent["runnable"] =>
      (agent ??= assemble(ownOptions, ownPlace) as CompiledSubagent["runnable"]);
    return {
      ...compiledOf(spec, { invoke: (input: never, config?: never) => build().invoke(input, config) }),
      stateFields: sharedFields(options.stateSchema, spec.stateSchema, spec.name),
    };
  });
}

function checkToolNames(tools: readonly AnyTool[], builtIn: readonly string[]): void {
  const seen = new Set<string>(builtIn);
  for (const tool of tools) {
    const { name } = tool as { name?: unknown };
    if (typeof name !== "string") continue;
    if (builtIn.includes(name)) fail(`the tool "${name}" has the name of a built-in tool; rename it`);
    if (seen.has(name)) fail(`two tools are called "${name}"`);
    seen.add(name);
  }
}

function fail(reason: string): never {
  throw new HarnessError("invalid-options", `createDeepAgent: ${reason}.`);
}
