import { realpathSync } from "node:fs";
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
import { createDeepAgent } from "../deep/index.ts";
import type { AnyTool, DeepAgentOptions } from "../deep/options.ts";
import { HarnessError } from "../errors.ts";
import { compositeBackend, diskBackend, isIsolated, shellBackend } from "../files/index.ts";
import { Account, BUDGET_KEY } from "../middleware/budget/account.ts";
import { DEFAULT_BUDGET } from "../middleware/budget/options.ts";
import { clarificationMiddleware, CLARIFICATION_TOOL } from "../middleware/clarification/index.ts";
import { FILE_ARGUMENTS } from "../middleware/files/schemas.ts";
import { lastValue } from "../middleware/last-value.ts";
import { OfflineModel } from "../models/index.ts";
import type { Config, Project } from "../project/index.ts";
import { commandsPrompt } from "./agent.prompt.ts";
import { consentRules } from "./consent-rules.ts";
import { chosenMode, RUN_SETTINGS, type RunSettings } from "./settings.ts";

/** Where the harness keeps what is its own: never in the user's directory. */
const OWN_FOLDER = "/.holdfast";

/** The tools of a run that consent can be asked for. */
export const RUN_TOOLS: readonly string[] = [...Object.keys(FILE_ARGUMENTS), "task"];

/** What of a project an agent is built with. */
export type RunProject = Pick<Project, "config" | "instructions" | "skills" | "mcp">;

/** The agent of a thread: a graph with a checkpointer, and how it is run. */
export interface RunAgent {
  graph: RunGraph;
  stream(input: never, options: RunStreamOptions): Promise<AsyncIterable<unknown>>;
}

/** What is asked of the graph of an agent, whoever built it. */
export interface RunGraph {
  checkpointer?: BaseCheckpointSaver | boolean | undefined;
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
  /** Can ask the run to stop between two steps. LangChain's types do not know of it, and pass it on. */
  control?: RunControl;
  interruptBefore?: string[] | "*";
  interruptAfter?: string[] | "*";
  context?: Record<string, unknown>;
}

/**
 * Builds the agent that the settings of a thread describe, for one run: its model calls are counted from here, however
 * many questions are answered on the way.
 */
export function createRunAgent({
  settings,
  checkpointer,
  model = new OfflineModel(),
  project,
  tools = [],
  canAsk = true,
  compactAt,
}: {
  settings: RunSettings;
  /** What the user and the project in `dir` have to say to it. */
  project?: RunProject | undefined;
  /** Its tools beside those for files, plan and sub-agents. */
  tools?: readonly AnyTool[];
  /** Whether somebody can be asked. Where nobody can, a mode that was chosen refuses what it would ask for. */
  canAsk?: boolean;
  /** The conversation is summarized when it has so many messages; default: when it is too long for the model. */
  compactAt?: number;
  /** May be left out to read or change a thread without running it. */
  model?: BaseChatModel;
  checkpointer: BaseCheckpointSaver;
}): RunAgent {
  const { plan, preset, approve, maxTurns } = settings;
  const mode = chosenMode(settings, project?.config);
  if (mode === "plan" && !plan) {
    throw new HarnessError("invalid-options", "Mode plan needs a plan: leave out --no-plan.");
  }
  const { graph } = createDeepAgent({
    model,
    checkpointer,
    plan: plan ? { preset, approval: approvalOf(approve, mode), askTools: [CLARIFICATION_TOOL] } : false,
    middleware: [clarificationMiddleware()],
    budget: false,
    stateSchema: new StateSchema({
      title: lastValue(z.string().optional()),
      run: lastValue(RUN_SETTINGS.optional()),
    }),
    interruptOn: consentRules({
      mode: mode ?? "edits",
      rules: { ...project?.config, ask: [...(project?.config.ask ?? []), ...settings.ask] },
      ...toolNames(tools, settings),
      dir: realFolder(settings.dir),
      canAsk: canAsk || mode === undefined,
    }),
    tools,
    instructions: project ? [project.instructions] : [],
    skills: project?.skills ?? [],
    ...directory(settings, project?.config),
    ...(compactAt !== undefined && { summarization: compaction(settings, compactAt) }),
  });
  // Not the agent itself: it reads the whole thread to write all of it into each message's step once more.
  const run = graph.withConfig({ configurable: { [BUDGET_KEY]: accountOf(maxTurns) } });
  return {
    graph: run,
    stream: (input, options) => run.stream(input, options as object),
  };
}

function compaction({ dir }: RunSettings, compactAt: number) {
  const when = { trigger: { messages: compactAt }, keep: { messages: Math.min(4, compactAt) } };
  return { ...when, ...(dir !== undefined && HISTORY) };
}

/** Sub-agents that run out of it wait for a resume, as an answer in their place would be taken for their report. */
function accountOf(maxTurns: number | undefined): Account {
  if (maxTurns === undefined) return new Account({ limits: DEFAULT_BUDGET, isResumable: true });
  const text = `Stopped after ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}, as asked.`;
  return new Account({ limits: { modelCalls: maxTurns }, isResumable: true, text });
}

/** In plan mode a person approves a plan before it is begun. */
function approvalOf(approve: RunSettings["approve"], mode: Config["mode"]): RunSettings["approve"] {
  return mode === "plan" && approve === "never" ? "first" : approve;
}

/** The tools of a run, and those among them that only read. */
function toolNames(tools: readonly AnyTool[], { dir, shell }: RunSettings) {
  const own = RUN_TOOLS.filter((name) => name !== "execute" || (shell && dir !== undefined));
  const named = tools as readonly { name: string; metadata?: { annotations?: { readOnlyHint?: unknown } } }[];
  const hinted = named.filter(({ metadata }) => metadata?.annotations?.readOnlyHint === true);
  return {
    tools: [...own, ...named.map(({ name }) => name)],
    reading: ["ls", "read_file", "glob", "grep", ...hinted.map(({ name }) => name)],
  };
}

function realFolder(dir: string | undefined): string | undefined {
  try {
    return dir === undefined ? undefined : realpathSync(dir);
  } catch {
    // It is made when it is first used.
    return dir;
  }
}

const HISTORY = { folder: `${OWN_FOLDER}/history` };

type Directory = Pick<
  DeepAgentOptions,
  "backend" | "canExecute" | "permissions" | "resultFolder" | "summarization" | "systemPrompt"
>;

function directory({ dir, shell, ...settings }: RunSettings, config: Config = {}): Directory {
  if (dir === undefined) return {};
  const network = settings.network ?? config.network ?? false;
  const isolation = config.sandbox ?? "auto";
  const disk = shell ? shellBackend(dir, { network, isolation }) : diskBackend(dir);
  return {
    backend: ({ state }) => compositeBackend(disk, { [`${OWN_FOLDER}/`]: state }),
    canExecute: shell,
    permissions: [
      { effect: "deny", operations: ["write", "delete"], paths: ["**/.git", "**/.git/**"] },
      // Commands can write there all the same where they are not isolated; each of them is asked for.
      ...(shell ? [{ effect: "allow" as const, operations: ["execute" as const], paths: "/" }] : []),
    ],
    ...(shell && {
      systemPrompt: commandsPrompt(dir, { isolated: isIsolated({ isolation }), network }),
    }),
    resultFolder: `${OWN_FOLDER}/results`,
    summarization: HISTORY,
  };
}
