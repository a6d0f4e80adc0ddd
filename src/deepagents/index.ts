import type { ReducedValue } from "@langchain/langgraph";
import {
  compiledOf,
  inherited,
  type DeepAgentOptions,
  type SubagentSpec,
  createBareAgent,
  createHelper,
} from "../deep/index.ts";
import { HarnessError } from "../errors.ts";
import { unpackBytes } from "../files/backends/index.ts";
import { filesField } from "../middleware/files/index.ts";
import { FILES_IN_THREAD } from "../middleware/repeats/index.ts";
import { joinedPrompt } from "../middleware/text/index.ts";
import { toModel } from "../models/index.ts";
import type { CompiledSubagent } from "../subagents/index.ts";
import { isSandboxBackend } from "./adapt.ts";
import { fileOptionsOf, memorySources, renamed, ruleOf, skillsOf } from "./agent-files.ts";
import { StateBackend } from "./backends.ts";
import type {
  AnySubAgent,
  CreateDeepAgent,
  CreateDeepAgentParams,
  FilesUpdate,
  SystemPromptConfig,
} from "./options.ts";
import { dataOf, type BackendProtocol, type FileData, type SandboxProtocol } from "./protocol.ts";
import { createAsyncSubAgentMiddleware, isAsyncSubAgent, type AsyncSubAgent } from "./remote-agents.ts";
import type { SkillMetadata } from "./settings.ts";

/**
 * `createDeepAgent` with DeepAgents' options and ours. `files` in the result of `invoke` are DeepAgents' records; in
 * streams and checkpoints they are texts. LangChain's `todoListMiddleware` in `middleware` replaces our plan.
 *
 * @example
 * ```ts
 * import { createDeepAgent, FilesystemBackend } from "holdfast/deepagents";
 *
 * const backend = new FilesystemBackend({ rootDir: "./my-project" });
 * const agent = createDeepAgent({ model: "openai:gpt-5.1", backend, skills: ["/skills/"] });
 * const { files, todos } = await agent.invoke({ messages: "Look around and report" });
 * ```
 */
export const createDeepAgent: CreateDeepAgent = ((params: CreateDeepAgentParams = {}) => {
  const { memory = [], skills, subagents = [], backend, permissions, interruptOn, ...rest } = params;
  const { instructions, middleware = [], plan, systemPrompt, repeats, ...ours } = rest;
  const fileOptions = fileOptionsOf(backend, permissions);
  const remote = subagents.filter(isAsyncSubAgent);
  const sources = [
    ...(typeof instructions === "object" ? instructions : []),
    ...memorySources(fileOptions, memory),
  ];
  const tools = [...(ours.tools ?? []), ...middleware.flatMap((one) => one.tools ?? [])];
  const hasTodos = tools.some(({ name }) => name === "write_todos");
  const isInState = backend === undefined || backend instanceof StateBackend;
  const options: DeepAgentOptions = {
    ...ours,
    ...fileOptions,
    systemPrompt: promptOf(systemPrompt) ?? (typeof instructions === "string" ? instructions : ""),
    repeats: repeats !== false && { ...(isInState ? FILES_IN_THREAD : {}), ...repeats },
    instructions: sources.length > 0 ? sources : undefined,
    interruptOn: interruptOn ? renamed(interruptOn) : undefined,
    plan: plan !== undefined || hasTodos ? (plan ?? false) : undefined,
    middleware: [
      ...skillsOf(fileOptions, skills),
      ...(remote.length > 0 ? [createAsyncSubAgentMiddleware({ asyncSubAgents: remote })] : []),
      ...middleware,
    ],
  };
  const local = subagents.filter((spec) => !isAsyncSubAgent(spec));
  const all = { ...options, subagents: local.map((spec) => specOf(spec, options)) };
  return withFileData(createBareAgent(all as never));
}) as never;

function promptOf(prompt: CreateDeepAgentParams["systemPrompt"]): DeepAgentOptions["systemPrompt"] {
  return isConfig(prompt)
    ? joinedPrompt(...[prompt.prefix, prompt.base, prompt.suffix].map((part) => part ?? undefined))
    : prompt;
}

function isConfig(prompt: CreateDeepAgentParams["systemPrompt"]): prompt is SystemPromptConfig {
  return (
    typeof prompt === "object" && ["prefix", "base", "suffix"].some((part) => Object.hasOwn(prompt, part))
  );
}

function specOf(
  spec: Exclude<AnySubAgent, AsyncSubAgent>,
  parent: DeepAgentOptions,
): SubagentSpec | CompiledSubagent {
  if (spec.mode !== undefined && !["isolated", "fork"].includes(spec.mode)) {
    throw new HarnessError(
      "invalid-options",
      `createDeepAgent: the mode of the sub-agent "${spec.name}" is "${spec.mode}"; use "isolated" or "fork".`,
    );
  }
  if ("runnable" in spec) {
    const { mode, ...rest } = spec;
    return mode === "fork" ? { ...rest, fork: true } : rest;
  }
  const { mode, skills, permissions, interruptOn, middleware = [], ...rest } = spec;
  const fork = mode === "fork";
  const own: SubagentSpec = {
    ...rest,
    fork,
    interruptOn: interruptOn ? renamed(interruptOn) : undefined,
    middleware: [...skillsOf(parent, skills), ...middleware],
  };
  if (!permissions) return own;
  const { model } = spec;
  const effort = spec.effort ?? (model === undefined ? parent.effort : undefined);
  const options = {
    ...inherited(own, parent, toModel(model ?? parent.model)),
    ...(effort && { effort }),
    permissions: permissions.map(ruleOf),
    subagents: [],
    generalPurpose: false,
  };
  return compiledOf({ ...spec, fork }, createHelper(options as never));
}

function withFileData<Agent extends { invoke: (...args: never[]) => Promise<object> }>(agent: Agent): Agent {
  const invoke = agent.invoke.bind(agent);
  return Object.assign(agent, {
    invoke: async (...args: never[]) => {
      const result: { files?: Record<string, string> } = await invoke(...args);
      if (!result.files) return result;
      const files = Object.entries(result.files).map(([path, text]) => [
        path,
        dataOf(unpackBytes(text), path),
      ]);
      return { ...result, files: Object.fromEntries(files) as object };
    },
  });
}

export {
  BaseSandbox,
  CompositeBackend,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
  StoreBackend,
  type AnyBackend,
  type BackendRuntime,
  type FilesystemBackendOptions,
  type LocalShellBackendOptions,
  type StoreBackendContext,
  type StoreBackendOptions,
} from "./backends.ts";
export type {
  AnySubAgent,
  BackendFactory,
  CompiledSubAgent,
  CreateDeepAgentParams,
  FilesystemPermission,
  SubAgent,
  SystemPromptConfig,
} from "./options.ts";
export type {
  BackendProtocol,
  DeleteResult,
  EditResult,
  ExecuteResponse,
  FileData,
  FileInfo,
  FileOperationError,
  FileDownloadResponse,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  MaybePromise,
  ReadRawResult,
  ReadResult,
  SandboxProtocol as SandboxBackendProtocol,
  WriteResult,
} from "./protocol.ts";
export {
  createAsyncSubAgentMiddleware,
  isAsyncSubAgent,
  type AsyncSubAgent,
  type AsyncTask,
  type AsyncTaskStatus,
} from "./remote-agents.ts";
export {
  createSettings,
  findProjectRoot,
  listSkills,
  parseSkillMetadata,
  type ListSkillsOptions,
  type Settings,
  type SettingsOptions,
  type SkillMetadata,
} from "./settings.ts";
export {
  createAgentMemoryMiddleware,
  createFilesystemMiddleware,
  createMemoryMiddleware,
  createPatchToolCallsMiddleware,
  createSkillsMiddleware,
  createSubAgent,
  createSubAgentMiddleware,
  createSummarizationMiddleware,
  type AgentMemoryMiddlewareOptions,
  type FilesystemMiddlewareOptions,
  type FsToolName,
  type MemoryMiddlewareOptions,
  type SkillsMiddlewareOptions,
  type SubAgentMiddlewareOptions,
  type SummarizationMiddlewareOptions,
} from "./middleware.ts";
export {
  adaptBackendProtocol,
  adaptSandboxProtocol,
  isSandboxBackend,
  type AnyBackendProtocol,
  type FirstProtocol as BackendProtocolV1,
} from "./adapt.ts";

/** DeepAgents' other name of `BackendProtocol`. */
export type BackendProtocolV2 = BackendProtocol;
/** DeepAgents' other name of `SandboxBackendProtocol`. */
export type SandboxBackendProtocolV2 = SandboxProtocol;
/** DeepAgents' other name of `SkillMetadata`. */
export type LoaderSkillMetadata = SkillMetadata;
/** DeepAgents' other name of `isSandboxBackend`. */
export const isSandboxProtocol = isSandboxBackend;

/** The field `files` of the state, for a program's own state schema. */
export const filesValue = filesField() as unknown as ReducedValue<Record<string, FileData>, FilesUpdate>;
