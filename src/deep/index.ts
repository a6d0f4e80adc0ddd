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
 * Creates a LangChain agent that plans, keeps files and gives work to sub-agents. The result has the interface of any
 * LangChain agent: `invoke`, `stream`, `streamEvents`, `graph.getState`.
 *
 * @example
 * ```ts
 * import { createDeepAgent } from "holdfast";
 * import { shellBackend } from "holdfast/files";
 *
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend: shellBackend("./my-project") });
 * const input = { messages: [{ role: "user", content: "Make the tests pass" }] };
 * const { messages, todos } = await agent.invoke(input);
 * console.log(messages.at(-1)?.text, todos);
 * ```
 */
export const createDeepAgent: CreateDeepAgent = ((userOptions: DeepAgentOptions = {}) => {
  const options = withKnownPrices(userOptions);
  checkDeepOptions(options);
  return assemble(options, { depth: 0, budget: new Budget(options.budget) });
}) as never;

/** Creates a deep agent whose sub-agents' reports have no line about their verdicts. */
export const createBareAgent: CreateDeepAgent = ((userOptions: DeepAgentOptions) => {
  const options = withKnownPrices(userOptions);
  checkDeepOptions(options);
  return assemble(options, { depth: 0, budget: new Budget(options.budget), isBare: true });
}) as never;

/** Creates a deep agent that works for another agent, on its budget. */
export const createHelper: CreateDeepAgent = ((options: DeepAgentOptions) => {
  checkDeepOptions(options);
  return assemble(options, { depth: 1, budget: new Budget(false) });
}) as never;

/** Adds the known prices of a model that is given by name to a budget without prices. */
function withKnownPrices(options: DeepAgentOptions): DeepAgentOptions {
  const { budget, model } = options ?? {};
  const isPriced = typeof budget !== "object" || budget?.prices;
  const prices = isPriced || typeof model !== "string" ? undefined : knownModel(model)?.prices;
  return prices ? { ...options, budget: { ...(budget as BudgetOptions), prices } } : options;
}

const GENERAL_PURPOSE = "general-purpose";

/** The position of an agent in the tree of agents. */
interface AgentPlace {
  depth: number;
  /** One budget for the whole tree. */
  budget: Budget;
  /** File rules of the agents above, except those it has as its own. */
  permissions?: readonly (readonly PermissionRule[])[];
  /** A fork has the `task` tool so that its requests begin like its parent's, but may not use it. */
  isFork?: boolean;
  /** Whether sub-agents' reports have no line about their verdicts. */
  isBare?: boolean;
}

function assemble(ownOptions: DeepAgentOptions, place: AgentPlace): object {
  const options = withServers(ownOptions, "createDeepAgent");
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
      ? // They share the skills that were read here.
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
  const hasTheirPlan = isReplaced("PlanMiddleware", options);
  const hasOwnPlan = plan !== undefined && !hasTheirPlan && !isLeftOut("PlanMiddleware", options);
  const repeats = repeatsOf(options);
  const defaults = [
    ...(options.goal ? [goalMiddleware(options.goal, { budget, model })] : []),
    ...(summarization === false ? [] : [summarizationMiddleware(summaries, { budget })]),
    toolErrors(),
    ...(depth > 0 ? [steeringMiddleware()] : []),
    ...(options.mcp ? [mcpMiddleware(options.mcp)] : []),
    orderedCallsMiddleware(plan ? { now: plan.setup.now } : {}),
    ...(plan ? [planMiddlewareOf(plan)] : []),
    filesMiddlewareOf(workspace, {
      model,
      ...picked(options, ["media", "resultLimit", "resultFolder", "fileTools"]),
    }),
    ...(instructions.length > 0 ? [instructionsMiddleware(instructions)] : []),
    ...(skills ? [skillsMiddleware(skills, depth > 0 && !isFork ? "helper" : "agent")] : []),
    ...(subagents.length > 0
      ? [
          subagentsMiddleware({
            subagents,
            plan: hasOwnPlan ? plan : undefined,
            budget,
            isBare: place.isBare,
            ...picked(options, ["background"]),
            maxConcurrency,
            refusal: !mayDelegate ? FORK_REFUSAL : undefined,
          }),
        ]
      : []),
    ...(interruptOn ? [consentMiddleware({ interruptOn, repeats })] : []),
    ...(repeats && !hasOwnConsent(options) ? [repeatsMiddleware(repeats)] : []),
    ...(loopGuard === false ? [] : [loopGuardMiddleware(loopGuard)]),
    ...(hasOwnPlan || hasTheirPlan ? [] : [brokenCallsMiddleware()]),
    danglingCallsMiddleware(),
    emptyAnswersMiddleware(),
    promptCachingMiddleware(),
    budgetMiddleware(budget),
    secretsMiddleware(),
  ] as AnyAgentMiddleware[];
  const agent = createAgent({
    model,
    tools,
    systemPrompt: joinedPrompt(promptOf(options), DEEP_SYSTEM_PROMPT),
    middleware: arrangeMiddleware(defaults, options),
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

/** The policy for calls that were running when a run was stopped. */
function repeatsOf(options: DeepAgentOptions): false | RepeatOptions {
  const { repeats = {}, backend = stateBackend } = options;
  if (repeats === false || isLeftOut("RepeatsMiddleware", options)) return false;
  return backend === stateBackend ? { ...FILES_IN_THREAD, ...repeats } : repeats;
}

/** Whether the agent has our consent middleware, which also handles repetitions. */
function hasOwnConsent(options: DeepAgentOptions): boolean {
  const name = "HumanInTheLoopMiddleware";
  return options.interruptOn !== undefined && !isReplaced(name, options) && !isLeftOut(name, options);
}

/** Whether the user has replaced a default middleware. */
function isReplaced(middlewareName: DefaultMiddlewareName, { middleware = [] }: DeepAgentOptions): boolean {
  return middleware.some(({ name }) => name === middlewareName);
}

function isLeftOut(name: DefaultMiddlewareName, { without = [] }: DeepAgentOptions): boolean {
  return without.includes(name);
}

/**
 * The default middleware with the user's: replaced by name, the rest before the innermost. So a user's middleware that
 * retries calls comes after the consent middleware, and the user is asked only once.
 */
function arrangeMiddleware(
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
  const replacements = new Map(middleware.map((one) => [one.name, one]));
  const names = defaults.map((one) => one.name);
  if (
    replacements.has(THEIR_PLAN) &&
    names.includes("PlanMiddleware") &&
    !without.includes("PlanMiddleware")
  ) {
    fail(`two plans: remove ${THEIR_PLAN} from middleware, or leave ours out with plan: false`);
  }
  const own = middleware.filter((one) => !names.includes(one.name));
  const chain = defaults
    .filter((one) => !without.some((name) => name === one.name))
    .map((one) => replacements.get(one.name) ?? one);
  const end = chain.findIndex((one) => INNERMOST.some((name) => name === one.name));
  const consent = chain.findIndex((one) => one.name === "HumanInTheLoopMiddleware");
  // Before consent, so that no one is asked about a call that a question to the user withholds.
  const first = own.filter((one) => consent >= 0 && one.name === "ClarificationMiddleware");
  const rest = own.filter((one) => !first.includes(one));
  return chain
    .toSpliced(end < 0 ? chain.length : end, 0, ...rest)
    .toSpliced(consent < 0 ? chain.length : consent, 0, ...first);
}

/** LangChain's own plan middleware, which has the same tool and state as ours. */
const THEIR_PLAN = "todoListMiddleware";

/** Middleware that sees every request as it is sent, including those that other middleware repeats. */
const INNERMOST = DEFAULT_MIDDLEWARE.slice(DEFAULT_MIDDLEWARE.indexOf("DanglingCallsMiddleware"));

/** Compiles descriptions to sub-agents; each agent is built on first use. */
function compile(options: DeepAgentOptions, model: BaseChatModel, place: AgentPlace): CompiledSubagent[] {
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
    // The model is created now, so that invalid settings are refused together with the options.
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
      ...(typeof spec.model === "string" && { model: spec.model }),
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
