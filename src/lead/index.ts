import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import { createAgent, type AnyAgentMiddleware } from "langchain";
import {
  compiledOf,
  inherited,
  picked,
  type DeepAgentOptions,
  type SubagentSpec,
  createHelper,
} from "../deep/index.ts";
import { HarnessError } from "../errors.ts";
import { withPermissions } from "../files/index.ts";
import { mcpMiddleware, withServers } from "../mcp/index.ts";
import { brokenCallsMiddleware } from "../middleware/broken-calls/index.ts";
import { Budget, STEP_LIMIT, budgetMiddleware } from "../middleware/budget/index.ts";
import { CLARIFICATION_TOOL, clarificationMiddleware } from "../middleware/clarification/index.ts";
import { consentMiddleware, repeatsMiddleware } from "../middleware/consent/index.ts";
import { danglingCallsMiddleware } from "../middleware/dangling-calls/index.ts";
import { emptyAnswersMiddleware } from "../middleware/empty-answers/index.ts";
import { goalMiddleware } from "../middleware/goal/index.ts";
import { lightLoop } from "../middleware/light-loop/index.ts";
import { loopGuardMiddleware } from "../middleware/loop-guard/index.ts";
import { orderedCallsMiddleware } from "../middleware/ordered-calls/index.ts";
import { keptPlanSchema, planMiddlewareOf, planParts } from "../middleware/plan/index.ts";
import { promptCachingMiddleware } from "../middleware/prompt-caching/index.ts";
import { sandboxPrompt, MOUNT, Sandboxes, sandboxMiddlewareOf } from "../middleware/sandbox/index.ts";
import { secretsMiddleware } from "../middleware/secrets/index.ts";
import { SkillLibrary, skillsMiddleware } from "../middleware/skills/index.ts";
import { summarizationMiddleware } from "../middleware/summarization/index.ts";
import { joinedPrompt } from "../middleware/text/index.ts";
import { inThread, type RunContext, threadDataMiddleware } from "../middleware/thread-data/index.ts";
import { titleMiddleware } from "../middleware/title/index.ts";
import { toolErrors } from "../middleware/tool-errors/index.ts";
import { toModel, withEffort, withSettings, withThinking } from "../models/index.ts";
import type { Todo } from "../plan/index.ts";
import { own } from "../plan/todo/index.ts";
import {
  GENERAL_PURPOSE_DESCRIPTION,
  subagentsMiddleware,
  type CompiledSubagent,
} from "../subagents/index.ts";
import { webToolsOf } from "../web/index.ts";
import { checkLeadOptions } from "./check-options.ts";
import { LEAD_SYSTEM_PROMPT } from "./lead.prompt.ts";
import type { LeadOptions } from "./options.ts";
import { readRequest, type LeadRequest } from "./request.ts";

export type { LeadOptions } from "./options.ts";
export type { LeadRequest } from "./request.ts";

/**
 * Creates the agent for one request: `is_plan_mode`, `thinking_enabled`, `model_name` and the rest of `LeadRequest`
 * come from `config.configurable` or `config.context`. Two agents share nothing but the options.
 *
 * @example
 * ```ts
 * import { makeLeadAgent } from "holdfast";
 *
 * const config = { configurable: { thread_id: "1", is_plan_mode: true, subagent_enabled: true } };
 * const agent = makeLeadAgent(config, { model: "openai:gpt-5.1" });
 * const input = { messages: [{ role: "user", content: "Compare the three proposals" }] };
 * const { todos } = await agent.invoke(input, config);
 * ```
 */
export function makeLeadAgent(
  config: RunnableConfig & { context?: unknown } = {},
  userOptions: LeadOptions = {},
) {
  checkLeadOptions(userOptions);
  const options = withServers(userOptions, "makeLeadAgent");
  const warn = options.onWarning ?? ((message: string) => process.emitWarning(`makeLeadAgent: ${message}`));
  const request = readRequest(config, warn);
  const baseModel = modelFor(request, options, warn);
  const thinking = { enabled: request.thinkingEnabled, effort: request.reasoningEffort };
  const think = (one: BaseChatModel): BaseChatModel => withThinking(one, thinking, warn);
  const model = think(baseModel);
  /** Creates a sub-agent's model. Settings come first, as they decide which thinking the model supports. */
  const modelOf = ({ name, model: specModel, modelSettings, effort }: SubagentSpec): BaseChatModel => {
    if (specModel === undefined && modelSettings === undefined && effort === undefined) return model;
    const owner = `makeLeadAgent: subagents.${name}`;
    const configured = withSettings(toModel(specModel ?? baseModel), modelSettings ?? {}, owner);
    if (effort !== undefined) return withEffort(configured, effort, warn);
    return specModel === undefined ? think(configured) : configured;
  };
  const agent = createAgent({
    model,
    tools: [...(options.tools ?? []), ...webToolsOf(options.web)],
    systemPrompt: joinedPrompt(LEAD_SYSTEM_PROMPT, options.systemPrompt),
    middleware: chain(request, options, { model, modelOf, warn }) as [
      ReturnType<typeof planMiddlewareOf<Todo>>,
      ReturnType<typeof titleMiddleware>,
    ],
    stateSchema: !request.isPlanMode ? (keptPlanSchema() as never) : undefined,
    checkpointer: options.checkpointer,
    store: options.store,
  });
  return lightLoop(agent.withConfig({ recursionLimit: STEP_LIMIT }));
}

/** The graph of a lead agent. */
export type LeadGraph = ReturnType<typeof makeLeadAgent>["graph"];

/**
 * Creates a graph factory for `langgraph.json`: the server calls it with the config and the context of each run.
 *
 * @example
 * ```ts
 * import { leadAgentGraph } from "holdfast";
 *
 * // In langgraph.json: "graphs": { "lead_agent": "./lead.ts:graph" }
 * export const graph = leadAgentGraph({ model: "openai:gpt-5.1", summarization: true });
 * ```
 */
export function leadAgentGraph(
  options: LeadOptions = {},
): (
  config: RunnableConfig & { context?: unknown },
  server?: { executionRuntime?: { context?: unknown } | null },
) => LeadGraph {
  return (config, server) => {
    const context = server?.executionRuntime?.context ?? config.context;
    return makeLeadAgent({ ...config, context }, options).graph;
  };
}

/** Creates the model of a sub-agent. */
type ModelOf = (spec: SubagentSpec) => BaseChatModel;

/** The folder of skills in a sandbox. */
const SKILLS_FOLDER = `${MOUNT}/skills`;

function chain(
  request: LeadRequest,
  options: LeadOptions,
  { model, modelOf, warn }: { model: BaseChatModel; modelOf: ModelOf; warn: (message: string) => void },
): AnyAgentMiddleware[] {
  const { baseDir, summarization, interruptOn, repeats = {}, loopGuard, middleware = [] } = options;
  const budget = new Budget(options.budget);
  const folder = baseDir === undefined ? {} : { baseDir };
  const plan = request.isPlanMode ? planParts({ preset: "deerflow", ...options.plan }) : undefined;
  const concurrency = request.maxConcurrentSubagents;
  const sandboxes = new Sandboxes({ ...options.sandbox, ...folder });
  const { skills: sources = [] } = options;
  const skills =
    sources.length > 0
      ? new SkillLibrary(sources, { folder: SKILLS_FOLDER, onHost: false, onNote: warn })
      : undefined;
  const questions = request.nonInteractive ? [] : [clarificationMiddleware()];
  const { folder: historyFolder, ...summaries } = typeof summarization === "object" ? summarization : {};
  return [
    ...(options.goal ? [goalMiddleware(options.goal, { budget, model })] : []),
    toolErrors(),
    ...(options.mcp ? [mcpMiddleware(options.mcp)] : []),
    orderedCallsMiddleware(plan ? { now: plan.setup.now } : {}),
    threadDataMiddleware(folder),
    sandboxMiddlewareOf(sandboxes, options.sandbox ?? {}, { skills, historyFolder }),
    ...(skills ? [skillsMiddleware(skills)] : []),
    ...(summarization ? [summarizationMiddleware(summaries, { budget })] : []),
    ...(plan ? [planMiddlewareOf(plan)] : []),
    ...(request.subagentEnabled
      ? [
          subagentsMiddleware({
            subagents: helpers(
              { ...options, ...(skills && { skills: [skills.placed] }) },
              modelOf,
              sandboxes,
            ),
            plan,
            budget,
            background: options.background,
            maxConcurrency: concurrency,
          }),
        ]
      : []),
    titleMiddleware(options.title),
    ...(loopGuard === false ? [] : [loopGuardMiddleware(loopGuard)]),
    ...(plan ? [] : [brokenCallsMiddleware()]),
    danglingCallsMiddleware(),
    emptyAnswersMiddleware(),
    // Questions come before consent, so that no one is asked about a call that a question withholds. The user's
    // middleware comes after it, so that no one is asked twice about a call that it retries.
    ...(interruptOn
      ? [...questions, consentMiddleware({ interruptOn, repeats }), ...middleware]
      : [...(repeats ? [repeatsMiddleware(repeats)] : []), ...middleware, ...questions]),
    promptCachingMiddleware(),
    budgetMiddleware(budget),
    secretsMiddleware(),
  ] as AnyAgentMiddleware[];
}

/** The lead's sub-agents: deep agents in the same sandbox that cannot ask the user. */
function helpers(options: LeadOptions, modelOf: ModelOf, sandboxes: Sandboxes): CompiledSubagent[] {
  const { subagents = [], tools = [], sandbox } = options;
  const general: SubagentSpec = {
    name: "general-purpose",
    description: GENERAL_PURPOSE_DESCRIPTION,
    systemPrompt: LEAD_SYSTEM_PROMPT,
    mcp: true,
  };
  const parent: DeepAgentOptions = {
    ...picked(options, ["mcp", "web", "skills", "interruptOn", "repeats", "loopGuard"]),
    plan: false,
    tools,
    maxDepth: 0,
    backend: (context) => withPermissions(sandboxes.backend(context), sandbox?.permissions ?? []),
    canExecute: true,
    skillsFolder: SKILLS_FOLDER,
  };
  const specs = subagents.some(({ name }) => name === general.name) ? subagents : [general, ...subagents];
  return specs.map((spec) => {
    if ("runnable" in spec) return spec;
    const { systemPrompt, prompt } = spec;
    const { tools: specTools = [], ...others } = inherited(spec, parent, modelOf(spec));
    const agent = createHelper({
      ...(others as object),
      tools: specTools.filter((tool) => (tool as { name?: string }).name !== CLARIFICATION_TOOL),
      systemPrompt: joinedPrompt(systemPrompt ?? prompt, sandboxPrompt(MOUNT, sandboxes)),
    });
    // With a thread id, so that a run without a thread shares its caller's files.
    const runnable = {
      invoke: (input: object, config: RunContext = {}) =>
        agent.invoke(input as never, inThread(config) as never),
    };
    return compiledOf(spec, runnable as CompiledSubagent["runnable"]);
  });
}

function modelFor(
  request: LeadRequest,
  options: LeadOptions,
  warn: (message: string) => void,
): BaseChatModel {
  const { modelName } = request;
  const { models = {}, unknownModel = "refuse" } = options;
  const namedModel = modelName === undefined ? undefined : own(models, modelName);
  if (modelName !== undefined && namedModel === undefined) {
    const known = Object.keys(models).join(", ") || "none";
    if (unknownModel === "refuse") {
      throw new HarnessError(
        "invalid-request",
        `makeLeadAgent: there is no model "${modelName}"; known: ${known}.`,
      );
    }
    warn(`there is no model "${modelName}" (known: ${known}); the default model is used`);
  }
  return toModel(namedModel ?? options.model);
}
