import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { RemoveMessage, type BaseMessage } from "@langchain/core/messages";
import { REMOVE_ALL_MESSAGES } from "@langchain/langgraph";
import { createAgent, type AnyAgentMiddleware } from "langchain";
import { compiledOf, type AnyTool, type DeepAgentOptions } from "../deep/index.ts";
import { consentMiddleware } from "../middleware/consent/index.ts";
import { danglingCallsMiddleware, paired } from "../middleware/dangling-calls/index.ts";
import { FILE_ARGUMENTS, filesMiddleware, type FileToolChoice } from "../middleware/files/index.ts";
import { summarizationMiddleware, type ContextSize } from "../middleware/summarization/index.ts";
import { toModel } from "../models/index.ts";
import {
  GENERAL_PURPOSE_DESCRIPTION,
  subagentsMiddleware,
  type CompiledSubagent,
} from "../subagents/index.ts";
import { fileOptionsOf, renamed } from "./agent-files.ts";
import type { AnyBackend } from "./backends.ts";
import type { BackendFactory, CompiledSubAgent, FilesystemPermission, SubAgent } from "./options.ts";

/** The names of DeepAgents' file tools. */
export type FsToolName =
  | "ls"
  | "read_file"
  | "write_file"
  | "edit_file"
  | "delete"
  | "glob"
  | "grep"
  | "execute";

/** Options of `createFilesystemMiddleware`. */
export interface FilesystemMiddlewareOptions {
  /** Default: the files are in the graph state. */
  backend?: AnyBackend | BackendFactory;
  systemPrompt?: string | null;
  customToolDescriptions?: Partial<Record<FsToolName, string>> | null;
  /** Default: all. */
  tools?: readonly FsToolName[] | "all" | null;
  /** The size from which a tool result is stored in a file; null for never. Default 10,000. */
  toolTokenLimitBeforeEvict?: number | null;
  permissions?: FilesystemPermission[];
}

const CHARACTERS_PER_TOKEN = 4;

/**
 * The file tools of DeepAgents' agents: `filesMiddleware` with DeepAgents' options.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createFilesystemMiddleware, FilesystemBackend } from "holdfast/deepagents";
 *
 * const backend = new FilesystemBackend({ rootDir: "./my-project" });
 * const middleware = [createFilesystemMiddleware({ backend, tools: ["ls", "read_file"] })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createFilesystemMiddleware(options: FilesystemMiddlewareOptions = {}) {
  const { backend, permissions, systemPrompt, customToolDescriptions, tools } = options;
  const { toolTokenLimitBeforeEvict: limit = 10_000 } = options;
  const descriptions: Record<string, string> = renamed(customToolDescriptions ?? {});
  const names = Array.isArray(tools)
    ? tools.map((name) => (name === "delete" ? "delete_file" : name))
    : Object.keys(FILE_ARGUMENTS);
  const fileTools = names.map((name) =>
    descriptions[name] === undefined ? name : { name, description: descriptions[name] },
  ) as FileToolChoice[];
  return filesMiddleware({
    ...fileOptionsOf(backend, permissions),
    fileTools,
    resultLimit: limit !== null && limit * CHARACTERS_PER_TOKEN,
    ...(systemPrompt === undefined ? {} : { systemPrompt: systemPrompt ?? "" }),
  });
}

/** A size as LangChain gives it. */
interface TypedSize {
  type: keyof ContextSize;
  value: number;
}

/** Options of `createSummarizationMiddleware`. */
export interface SummarizationMiddlewareOptions {
  model?: string | BaseChatModel;
  /** Has no effect: messages stay in the thread, where the agent can read them. */
  backend?: AnyBackend | BackendFactory;
  trigger?: TypedSize | TypedSize[];
  keep?: TypedSize;
  summaryPrompt?: string;
}

/**
 * Keeps requests within the model's context window: `summarizationMiddleware` with DeepAgents' options.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createSummarizationMiddleware } from "holdfast/deepagents";
 *
 * const trigger = { type: "tokens" as const, value: 100_000 };
 * const middleware = [createSummarizationMiddleware({ trigger })];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createSummarizationMiddleware(options: SummarizationMiddlewareOptions = {}) {
  const { model, trigger, keep, summaryPrompt } = options;
  const sizes = trigger && [trigger].flat().map(sizeOf);
  return summarizationMiddleware({
    ...(model === undefined ? {} : { model: toModel(model) }),
    ...(sizes ? { trigger: sizes } : {}),
    ...(keep ? { keep: sizeOf(keep) } : {}),
    ...(summaryPrompt === undefined ? {} : { summaryPrompt }),
  });
}

function sizeOf({ type, value }: TypedSize): ContextSize {
  return { [type]: value };
}

/**
 * Creates the agent of a described sub-agent: with its own tools and middleware, and no others.
 *
 * @example
 * ```ts
 * import { createSubAgent } from "holdfast/deepagents";
 *
 * const reviewer = createSubAgent({
 *   name: "reviewer",
 *   description: "Reviews a text.",
 *   systemPrompt: "List the three worst sentences.",
 *   model: "openai:gpt-5.1",
 * });
 * ```
 */
export function createSubAgent(
  { name, model, tools, systemPrompt, prompt, middleware = [], interruptOn, responseFormat: own }: SubAgent,
  { responseFormat = own }: { responseFormat?: SubAgent["responseFormat"] } = {},
) {
  const consent = interruptOn ? [consentMiddleware({ interruptOn: renamed(interruptOn) })] : [];
  return createAgent({
    name,
    model: toModel(model),
    tools: (tools ?? []).filter((tool): tool is AnyTool => typeof tool !== "string"),
    systemPrompt: systemPrompt ?? prompt ?? "",
    middleware: [...middleware, ...consent] as AnyAgentMiddleware[],
    ...(responseFormat === undefined ? {} : { responseFormat }),
  } as Parameters<typeof createAgent>[0]);
}

/** Options of `createSubAgentMiddleware`. */
export interface SubAgentMiddlewareOptions {
  /** The model of sub-agents that have none. */
  defaultModel: BaseChatModel | string;
  /** The tools of sub-agents that have none. */
  defaultTools?: AnyTool[];
  /** Middleware of every described sub-agent, before its own. */
  defaultMiddleware?: AnyAgentMiddleware[] | null;
  /** Replaces `defaultMiddleware` for the general-purpose sub-agent. */
  generalPurposeMiddleware?: AnyAgentMiddleware[] | null;
  defaultInterruptOn?: DeepAgentOptions["interruptOn"] | null;
  subagents?: (SubAgent | CompiledSubAgent)[];
  /** Default true. */
  generalPurposeAgent?: boolean;
}

/**
 * Gives an agent the tool `task`: `subagentsMiddleware` with DeepAgents' options.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createSubAgentMiddleware } from "holdfast/deepagents";
 *
 * const model = "openai:gpt-5.1";
 * const reviewer = { name: "reviewer", description: "Reviews a text.", systemPrompt: "Be strict." };
 * const middleware = [createSubAgentMiddleware({ defaultModel: model, subagents: [reviewer] })];
 * const agent = createAgent({ model, middleware });
 * ```
 */
export function createSubAgentMiddleware(options: SubAgentMiddlewareOptions) {
  const { defaultModel, defaultTools = [], subagents = [], generalPurposeAgent = true } = options;
  const shared = options.defaultMiddleware ?? [];
  const compiled = (spec: SubAgent, before = shared): CompiledSubagent => {
    const { interruptOn = options.defaultInterruptOn ?? undefined } = spec;
    const agent = createSubAgent({
      ...spec,
      model: spec.model ?? defaultModel,
      tools: spec.tools ?? defaultTools,
      middleware: [...before, ...(spec.middleware ?? [])],
      ...(interruptOn ? { interruptOn } : {}),
    });
    return { ...compiledOf({ ...spec, fork: spec.mode === "fork" }, agent), ownsFiles: false };
  };
  const general = { name: "general-purpose", description: GENERAL_PURPOSE_DESCRIPTION };
  const described = subagents.map((spec) => {
    if (!("runnable" in spec)) return compiled(spec);
    const { mode, ...rest } = spec;
    return { ...rest, fork: mode === "fork" };
  });
  return subagentsMiddleware({
    isBare: true,
    subagents: generalPurposeAgent
      ? [compiled(general, options.generalPurposeMiddleware ?? shared), ...described]
      : described,
  });
}

/**
 * Adds results to calls that have none, in the thread before a run and in each request.
 *
 * @example
 * ```ts
 * import { createAgent } from "langchain";
 * import { createPatchToolCallsMiddleware } from "holdfast/deepagents";
 *
 * const middleware = [createPatchToolCallsMiddleware()];
 * const agent = createAgent({ model: "openai:gpt-5.1", middleware });
 * ```
 */
export function createPatchToolCallsMiddleware() {
  const middleware = danglingCallsMiddleware();
  return {
    ...middleware,
    beforeAgent: ({ messages = [] }: { messages?: BaseMessage[] }) => {
      const repaired = paired(messages);
      if (repaired === messages) return undefined;
      return { messages: [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...repaired] };
    },
  } as typeof middleware;
}

export {
  createAgentMemoryMiddleware,
  createMemoryMiddleware,
  createSkillsMiddleware,
  type AgentMemoryMiddlewareOptions,
  type MemoryMiddlewareOptions,
  type SkillsMiddlewareOptions,
} from "./context-files.ts";
