import { existsSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { AnyAgentMiddleware } from "langchain";
import {
  compiledOf,
  inherited,
  type DeepAgentOptions,
  type SubagentSpec,
  createBareAgent,
  createHelper,
} from "../deep/index.ts";
import { attempt } from "../errors.ts";
import { unpackBytes } from "../files/backends/index.ts";
import type { FileBackend, PermissionRule } from "../files/index.ts";
import { parsePath, pathIn } from "../files/paths/index.ts";
import { danglingCallsMiddleware } from "../middleware/dangling-calls/index.ts";
import { type BackendContext, Workspace } from "../middleware/files/index.ts";
import {
  MAX_INSTRUCTIONS,
  readText,
  instructionsMiddleware,
  type InstructionSource,
} from "../middleware/instructions/index.ts";
import { readSkill, type PlacedSkill, skillsMiddleware } from "../middleware/skills/index.ts";
import { quotedText } from "../middleware/text/index.ts";
import { toModel } from "../models/index.ts";
import type { CompiledSubagent } from "../subagents/index.ts";
import {
  CompositeBackend,
  filesOf,
  runsCommands,
  runtimeHere,
  StateBackend,
  stateHere,
  StoreBackend,
  type AnyBackend,
} from "./backends.ts";
import type {
  AnySubAgent,
  BackendFactory,
  CreateDeepAgent,
  CreateDeepAgentParams,
  FilesystemPermission,
} from "./options.ts";
import { dataOf } from "./protocol.ts";
import { createAsyncSubAgentMiddleware, isAsyncSubAgent, type AsyncSubAgent } from "./remote-agents.ts";
import type { Settings } from "./settings.ts";

/**
 * `createDeepAgent` with DeepAgents' options and ours. `files` in the result of `invoke` are DeepAgents' records; in
 * streams and checkpoints they are texts. LangChain's `todoListMiddleware` in `middleware` replaces our plan.
 */
export const createDeepAgent: CreateDeepAgent = ((params: CreateDeepAgentParams = {}) => {
  const { memory = [], skills, subagents = [], backend, permissions, interruptOn, ...rest } = params;
  const { instructions, middleware = [], plan, ...ours } = rest;
  const fileOptions = fileOptionsOf(backend, permissions);
  const remote = subagents.filter(isAsyncSubAgent);
  const sources = [
    ...(typeof instructions === "object" ? instructions : []),
    ...memorySources(fileOptions, memory),
  ];
  const hasTodoList = middleware.some(({ name }) => name === "todoListMiddleware");
  const options: DeepAgentOptions = {
    ...ours,
    ...fileOptions,
    ...(typeof instructions === "string" && { systemPrompt: ours.systemPrompt ?? instructions }),
    ...(sources.length > 0 && { instructions: sources }),
    ...(interruptOn && { interruptOn: renamed(interruptOn) }),
    ...((plan !== undefined || hasTodoList) && { plan: plan ?? false }),
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

type FileOptions = Pick<DeepAgentOptions, "backend" | "canExecute" | "permissions">;

/** Our options for a backend and the rules for its files. */
function fileOptionsOf(
  backend?: AnyBackend | BackendFactory,
  permissions?: FilesystemPermission[],
): FileOptions {
  const rules = permissions && { permissions: permissions.map(ruleOf) };
  if (backend === undefined || backend.constructor === StateBackend) return { ...rules };
  if (typeof backend !== "function") {
    const needsContext = [StoreBackend, CompositeBackend].some((kind) => backend instanceof kind);
    if (!needsContext) return { backend: filesOf(backend), ...rules };
    const create = (context: BackendContext): FileBackend => filesOf(backend, context);
    return { backend: create, canExecute: runsCommands(backend), ...rules };
  }
  const create = (context?: BackendContext): AnyBackend =>
    backend({ state: stateHere() ?? {}, store: context?.store });
  // A backend that cannot be created outside of a run counts as one without commands.
  const canExecute = attempt(() => runsCommands(create())) ?? false;
  return { backend: (context) => filesOf(create(context), context), canExecute, ...rules };
}

function ruleOf({ operations, paths, mode = "allow" }: FilesystemPermission): PermissionRule {
  const actions = operations.flatMap((one) => (one === "write" ? (["write", "delete"] as const) : [one]));
  return { effect: mode, operations: actions, paths, exact: mode === "allow" };
}

/** DeepAgents' `delete` is our `delete_file`. */
function renamed<Rule>(rules: Record<string, Rule>): Record<string, Rule> {
  const { delete: rule, ...rest } = rules;
  return rule === undefined ? rules : { ...rest, delete_file: rule };
}

/** Reads memory files. Permissions do not apply: the program chooses the files, on disk also outside of the backend. */
function memorySources({ backend }: FileOptions, paths: readonly string[]): InstructionSource[] {
  const workspace = new Workspace(backend ? { backend } : {});
  return paths.map((path) => async () => {
    const files = filesHere(workspace);
    const file = await files.read((await files.locate?.(path)) ?? path);
    if (file.ok) return quotedText("instructions", path, file.content);
    if (!files.locate || !isAbsolute(path)) return "";
    const onDisk = await readText(path, MAX_INSTRUCTIONS);
    return "text" in onDisk ? quotedText("instructions", path, onDisk.text) : "";
  });
}

function filesHere(workspace: Workspace): FileBackend {
  return workspace.open(stateHere(), runtimeHere()).backend;
}

/** A middleware that lists skills in the agent's own files. */
function skillsOf(options: FileOptions, sources: readonly string[] = []): AnyAgentMiddleware[] {
  if (sources.length === 0) return [];
  const workspace = new Workspace(options);
  let cache: Promise<PlacedSkill[]> | undefined;
  const warnings = new Set<string>();
  const read = async (): Promise<PlacedSkill[]> => {
    const { skills, notes } = await skillsIn(filesHere(workspace), sources);
    for (const note of notes) if (!warnings.has(note)) process.emitWarning(`createDeepAgent: ${note}`);
    for (const note of notes) warnings.add(note);
    return skills;
  };
  const placed = (): Promise<PlacedSkill[]> =>
    typeof options.backend === "object" ? (cache ??= read()) : read();
  return [skillsMiddleware({ placed }) as AnyAgentMiddleware];
}

async function skillsIn(
  files: FileBackend,
  sources: readonly string[],
): Promise<{ skills: PlacedSkill[]; notes: string[] }> {
  const skills = new Map<string, PlacedSkill>();
  const notes: string[] = [];
  for (const source of sources) {
    const parsed = parsePath((await files.locate?.(source)) ?? source);
    const at = parsed.ok ? parsed.path : "/";
    const listing = parsed.ok ? await files.list(at) : parsed;
    const entries = listing.ok ? listing.entries : [];
    if (!listing.ok && files.locate && isAbsolute(source) && existsSync(source)) {
      notes.push(`the skills in ${source} are not in the backend's folder, and are left out.`);
    }
    const isSkill = entries.some(({ name }) => name === "SKILL.md");
    const folders = entries.filter(({ isDirectory }) => isDirectory).map(({ name }) => pathIn(at, name));
    for (const base of isSkill ? [at] : folders) {
      const skill = await readSkill({ files, base }, notes);
      if (skill) skills.set(skill.name, { ...skill, at: base });
    }
  }
  return { skills: [...skills.values()], notes };
}

function specOf(
  spec: Exclude<AnySubAgent, AsyncSubAgent>,
  parent: DeepAgentOptions,
): SubagentSpec | CompiledSubagent {
  if ("runnable" in spec) return spec;
  const { mode, skills, permissions, interruptOn, middleware = [], ...rest } = spec;
  const fork = mode === "fork";
  const own: SubagentSpec = {
    ...rest,
    fork,
    ...(interruptOn && { interruptOn: renamed(interruptOn) }),
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
      const files = Object.entries(result.files).map(([path, text]) => [path, dataOf(unpackBytes(text))]);
      return { ...result, files: Object.fromEntries(files) as object };
    },
  });
}

/** Adds files of a backend to the system prompt. */
export function createMemoryMiddleware({ backend, sources }: BackendSources) {
  return instructionsMiddleware(memorySources(fileOptionsOf(backend), sources));
}

/** Adds the `agent.md` of the user and of the project to the system prompt. */
export function createAgentMemoryMiddleware({
  settings,
  assistantId,
}: {
  settings: Settings;
  assistantId: string;
}) {
  const paths = [settings.getUserAgentMdPath(assistantId), settings.getProjectAgentMdPath()];
  return instructionsMiddleware(paths.flatMap((file) => (file === null ? [] : { file })));
}

/** Lists skills of a backend in the system prompt. */
export function createSkillsMiddleware({ backend, sources }: BackendSources): AnyAgentMiddleware {
  return (
    skillsOf(fileOptionsOf(backend), sources)[0] ?? (skillsMiddleware({ placed: async () => [] }) as never)
  );
}

interface BackendSources {
  backend: AnyBackend | BackendFactory;
  sources: readonly string[];
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
} from "./options.ts";
export type {
  BackendProtocol,
  EditResult,
  ExecuteResponse,
  FileData,
  FileInfo,
  FileDownloadResponse,
  FileUploadResponse,
  GlobResult,
  GrepMatch,
  GrepResult,
  LsResult,
  ReadRawResult,
  ReadResult,
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
  type Settings,
  type SkillMetadata,
} from "./settings.ts";

/** Adds results to calls that have none: `danglingCallsMiddleware` under DeepAgents' name. */
export const createPatchToolCallsMiddleware = danglingCallsMiddleware;
