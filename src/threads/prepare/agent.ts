import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  StateSchema,
  type BaseCheckpointSaver,
  type RunControl,
  type StateSnapshot,
  type StreamMode,
} from "@langchain/langgraph";
import type { CheckpointListOptions } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { type AnyTool, type DeepAgentOptions, type SubagentSpec, createDeepAgent } from "../../deep/index.ts";
import { attempt, HarnessError } from "../../errors.ts";
import {
  compositeBackend,
  diskBackend,
  FROZEN_FILES,
  shellBackend,
  withPermissions,
  type FileBackend,
  type ShellOptions,
} from "../../files/index.ts";
import { CONFIG } from "../../marks.ts";
import { McpServers } from "../../mcp/index.ts";
import { Account, DEFAULT_BUDGET } from "../../middleware/budget/index.ts";
import { clarificationMiddleware, CLARIFICATION_TOOL } from "../../middleware/clarification/index.ts";
import { FILE_ARGUMENTS } from "../../middleware/files/index.ts";
import { lastValue } from "../../middleware/state/index.ts";
import { OfflineModel } from "../../models/index.ts";
import type { Config, Project } from "../../project/index.ts";
import type { SqliteSaver } from "../../storage/index.ts";
import { type Mode } from "../../vocabulary.ts";
import { WEB_TOOLS } from "../../web/index.ts";
import { consentRules, type LiveRules, denied, type Denied } from "../consent/index.ts";
import { ALONE_PROMPT, PLAN_MODE_PROMPT } from "./agent.prompt.ts";
import { forkNoteMiddleware } from "./fork-note.ts";
import { streamGraph } from "./graph-stream.ts";
import { chosenMode, DEFAULT_MODES, RUN_SETTINGS, type RunSettings } from "./settings.ts";

/** The folder of the harness's own files, which is never in the user's directory. */
const RESULTS = "/.holdfast/results";

/** The tools of a run that consent can be asked for. */
export const RUN_TOOLS: readonly string[] = [...Object.keys(FILE_ARGUMENTS), "task", ...WEB_TOOLS];

/** The parts of a project that an agent is built with. */
export type RunProject = Pick<Project, "config" | "instructions" | "skills" | "mcp"> & {
  /** Sub-agents besides those that are built in. */
  roles?: readonly SubagentSpec[];
};

/** The agent of a thread: a graph with a checkpointer, and the way to stream it. */
export interface RunAgent {
  graph: RunGraph;
  /** The mode of its runs; undefined for another program's agent. */
  mode?: Mode;
  stream(input: never, options: RunStreamOptions): Promise<AsyncIterable<unknown>>;
}

/** A layer between an agent and its directory, such as an editor with unsaved files and its own terminal. */
export interface RunPlace {
  files?: (disk: FileBackend) => FileBackend;
  run?: ShellOptions["run"];
}

/** The methods of an agent's graph that are used here. */
export interface RunGraph {
  config?: RunnableConfig;
  checkpointer?: BaseCheckpointSaver | boolean;
  channels: Record<string, object>;
  invoke(input: never, config?: RunnableConfig): Promise<object>;
  getState(config: RunnableConfig, options?: { subgraphs?: boolean }): Promise<StateSnapshot>;
  getStateHistory(
    config: RunnableConfig,
    options?: CheckpointListOptions,
  ): AsyncIterableIterator<StateSnapshot>;
  updateState(config: RunnableConfig, values: unknown, asNode?: string): Promise<RunnableConfig>;
  getGraphAsync(config?: RunnableConfig & { xray?: boolean | number }): Promise<{ toJSON(): object }>;
}

export interface RunStreamOptions extends RunnableConfig {
  streamMode: StreamMode[];
  subgraphs: boolean;
  durability: "sync";
  version?: "v2";
  /** Can stop the run between two steps. Missing in LangChain's types, but passed on. */
  control?: RunControl;
  interruptBefore?: string[] | "*";
  interruptAfter?: string[] | "*";
  context?: Record<string, unknown>;
}

/**
 * Builds the agent for one run from the settings of a thread. Its budget covers the whole run, however many questions are
 * answered on the way.
 */
export function createRunAgent({
  settings,
  checkpointer,
  model,
  project,
  tools = [],
  canAsk = true,
  compactAt,
  live,
  place,
  // Reading needs no servers, but the state channels of their tools.
  mcp = model ? undefined : new McpServers({ mcpServers: {} }),
}: {
  settings: RunSettings;
  /** Settings, instructions, skills and servers of the user and of the project in `dir`. */
  project?: RunProject;
  /** More tools, besides those for files, plan and sub-agents. */
  tools?: readonly AnyTool[];
  /** Whether someone can be asked. If not, a chosen mode refuses calls that need consent. Default true. */
  canAsk?: boolean;
  /** The number of messages at which the conversation is summarized. Default: when it is too long for the model. */
  compactAt?: number;
  /** A mode and rules that may change during the run, instead of the mode in the settings. */
  live?: LiveRules;
  place?: RunPlace;
  /** Optional for reading or changing a thread without running it. */
  model?: BaseChatModel;
  checkpointer: BaseCheckpointSaver;
  /** The servers that the settings name; see `RunServers`. */
  mcp?: McpServers;
}): RunAgent {
  const { plan, preset, approve } = settings;
  const chosen = live?.mode ?? chosenMode(settings, project?.config);
  const mode = chosen ?? DEFAULT_MODES.alone;
  if (mode === "plan" && !plan) {
    throw new HarnessError("invalid-options", "Mode plan needs a plan: leave out --no-plan.");
  }
  // A user who chose not to be asked and has no terminal cannot answer questions either.
  const isAlone = !canAsk && mode === "auto";
  const dir = settings.dir === undefined ? undefined : realFolder(settings.dir);
  const forbidden = denied(project?.config.deny, { dir, files: databaseFiles(checkpointer) });
  const { graph } = createDeepAgent({
    model: model ?? new OfflineModel(),
    checkpointer,
    plan: plan
      ? {
          preset,
          // In plan mode the user approves the plan before work starts, and each departure from it.
          approval: mode === "plan" ? "always" : approve,
          askTools: [CLARIFICATION_TOOL],
          // Live rules mean that the user attends the run.
          conversation: live !== undefined,
        }
      : false,
    middleware: [
      clarificationMiddleware({ canAsk: !isAlone }),
      forkNoteMiddleware({ hasDisk: dir !== undefined }),
    ],
    mcp,
    web: settings.web
      ? { allow: ["*", ...(project?.config.origins ?? [])], deny: [forbidden.isAddress] }
      : false,
    permissions: forbidden.permissions,
    budget: false,
    background: settings.background ?? false,
    stateSchema: new StateSchema({
      title: lastValue(z.string().optional()),
      run: lastValue(RUN_SETTINGS.optional()),
    }),
    interruptOn: consentRules({
      mode,
      live,
      rules: { ...project?.config, ask: [...(project?.config.ask ?? []), ...settings.ask] },
      ...toolNames(tools, settings),
      servers: mcp,
      dir,
      canAsk: canAsk || chosen === undefined,
      checkpointer,
    }),
    tools,
    // Without a model as with servers: only their state channels are needed.
    instructions: project ? [project.instructions] : model ? [] : [() => ""],
    skills: project?.skills ?? [],
    subagents: project?.roles ?? [],
    systemPrompt: isAlone ? ALONE_PROMPT : undefined,
    ...(mode === "plan" && { systemPrompt: PLAN_MODE_PROMPT }),
    ...directory(settings, { config: project?.config, place, forbidden }),
    summarization:
      compactAt === undefined
        ? undefined
        : { trigger: { messages: compactAt }, keep: { messages: Math.min(4, compactAt) } },
  });
  // Not the agent's own `stream`: it reads the whole thread, and writes all of it into each message's step again.
  const account = accountOf(settings);
  const run = graph.withConfig({ configurable: { [CONFIG.budget]: account } });
  return {
    graph: run,
    mode,
    stream: (input, options) => {
      // Restarts the clock: the user may have been asked since the last stream.
      account.begin();
      return streamGraph(run, input, options);
    },
  };
}

/** The budget of a run. Sub-agents that use it up wait for a resume: an answer would be treated as their report. */
function accountOf({ maxTurns, budget }: RunSettings): Account {
  const limits = { ...DEFAULT_BUDGET, ...budget };
  if (maxTurns === undefined) return new Account({ limits, isResumable: true });
  const text = `Stopped after ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}, as asked.`;
  return new Account({ limits: { ...limits, modelCalls: maxTurns }, isResumable: true, text });
}

/** The tools of a run, and those among them that only read. */
function toolNames(tools: readonly AnyTool[], settings: RunSettings) {
  const extra = tools as readonly { name: string; metadata?: { annotations?: { readOnlyHint?: unknown } } }[];
  const hinted = extra.filter(({ metadata }) => metadata?.annotations?.readOnlyHint === true);
  return {
    tools: [...ownTools(settings), ...extra.map(({ name }) => name)],
    reading: ["ls", "read_file", "glob", "grep", ...WEB_TOOLS, ...hinted.map(({ name }) => name)],
  };
}

/** The tools of a run by its settings, without those of the plan and of servers. */
export function ownTools({ dir, shell, web }: Pick<RunSettings, "dir" | "shell" | "web">): string[] {
  const canExecute = shell && dir !== undefined;
  return RUN_TOOLS.filter((name) => (name !== "execute" || canExecute) && (web || !WEB_TOOLS.includes(name)));
}

/** The real path of a folder, or `dir` itself if it does not exist yet. */
function realFolder(dir: string): string {
  return attempt(() => realpathSync(dir)) ?? dir;
}

/** The files of the SQLite database, which no tool may read: they have all threads. */
function databaseFiles(checkpointer: BaseCheckpointSaver): string[] {
  const { path } = checkpointer as Partial<Pick<SqliteSaver, "path">>;
  if (path === undefined) return [];
  const file = join(realFolder(dirname(path)), basename(path));
  return ["", "-wal", "-shm", "-journal"].map((end) => `${file}${end}`);
}

type Directory = Pick<DeepAgentOptions, "backend" | "canExecute" | "resultFolder">;

function directory(
  { dir, shell, ...settings }: RunSettings,
  options: { config?: Config; place?: RunPlace; forbidden: Denied },
): Directory {
  const { config = {}, place = {}, forbidden } = options;
  if (dir === undefined) return {};
  const network = settings.network ?? config.network ?? false;
  const isolation = settings.sandbox ?? config.sandbox ?? "auto";
  const hidden = forbidden.hidden(dir);
  const disk = shell
    ? shellBackend(dir, { isolation, network, hidden, run: place.run })
    : withPermissions(diskBackend(dir), [FROZEN_FILES]);
  const files = place.files ? { ...disk, ...withPermissions(place.files(disk), [FROZEN_FILES]) } : disk;
  return {
    // Only `results`: the rest of `.holdfast` is the project's, and frozen.
    backend: ({ state }) => compositeBackend(files, { [`${RESULTS}/`]: state }),
    canExecute: shell,
    resultFolder: RESULTS,
  };
}
