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
import type { InterruptOnConfig } from "langchain";
import { z } from "zod";
import { createDeepAgent } from "../deep/index.ts";
import type { DeepAgentOptions } from "../deep/options.ts";
import {
  compositeBackend,
  diskBackend,
  FROZEN_FILES,
  isIsolated,
  shellBackend,
  withPermissions,
} from "../files/index.ts";
import { compileRules } from "../files/permissions.ts";
import { Account, BUDGET_KEY } from "../middleware/budget/account.ts";
import { DEFAULT_BUDGET } from "../middleware/budget/options.ts";
import { clarificationMiddleware, CLARIFICATION_TOOL } from "../middleware/clarification/index.ts";
import { FILE_ARGUMENTS } from "../middleware/files/schemas.ts";
import { lastValue } from "../middleware/last-value.ts";
import { OfflineModel } from "../models/index.ts";
import type { SqliteSaver } from "../storage/index.ts";
import { commandsPrompt } from "./agent.prompt.ts";
import { isRunForUser } from "./run-for-user.ts";
import { RUN_SETTINGS, type RunSettings } from "./settings.ts";

/** Where the harness keeps what is its own: never in the user's directory. */
const OWN_FOLDER = "/.holdfast";

/** The tools of a run that consent can be asked for. */
export const RUN_TOOLS: readonly string[] = [...Object.keys(FILE_ARGUMENTS), "task"];

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
}: {
  settings: RunSettings;
  /** May be left out to read or change a thread without running it. */
  model?: BaseChatModel;
  checkpointer: BaseCheckpointSaver;
}): RunAgent {
  const { plan, preset, approve, maxTurns } = settings;
  const asked = toolsToAskFor(settings);
  const { graph } = createDeepAgent({
    model,
    checkpointer,
    plan: plan ? { preset, approval: approve, askTools: [CLARIFICATION_TOOL] } : false,
    middleware: [clarificationMiddleware()],
    budget: false,
    stateSchema: new StateSchema({
      title: lastValue(z.string().optional()),
      run: lastValue(RUN_SETTINGS.optional()),
    }),
    interruptOn: {
      ...(settings.trusted || settings.dir === undefined
        ? {}
        : Object.fromEntries(WRITING_TOOLS.map((tool) => [tool, STARTED_FILES]))),
      ...Object.fromEntries(asked.map((tool) => [tool, CONSENT])),
    },
    ...directory(settings, checkpointer),
  });
  // Not the agent itself: it reads the whole thread to write all of it into each message's step once more.
  const run = graph.withConfig({ configurable: { [BUDGET_KEY]: accountOf(maxTurns) } });
  return {
    graph: run,
    stream: (input, options) => run.stream(input, options as object),
  };
}

/** Sub-agents that run out of it wait for a resume, as an answer in their place would be taken for their report. */
function accountOf(maxTurns: number | undefined): Account {
  if (maxTurns === undefined) return new Account({ limits: DEFAULT_BUDGET, isResumable: true });
  const text = `Stopped after ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}, as asked.`;
  return new Account({ limits: { modelCalls: maxTurns }, isResumable: true, text });
}

/** Where anything is asked for, commands are, whatever the settings were put together from. */
function toolsToAskFor({ ask, shell }: RunSettings): readonly string[] {
  return shell && ask.length > 0 ? [...new Set(["execute", ...ask])] : ask;
}

const CONSENT: InterruptOnConfig = { allowedDecisions: ["approve", "edit", "reject"] };

const WRITING_TOOLS = ["write_file", "edit_file", "delete_file"];

const { check } = compileRules([FROZEN_FILES]);

/** What other programs run for the user is asked for even where writes are free, unless it is refused anyway. */
const STARTED_FILES: InterruptOnConfig = {
  ...CONSENT,
  when: ({ toolCall }) => {
    const path = String(toolCall.args["file_path"] ?? "");
    return isRunForUser(path) && check("write", path).allowed;
  },
};

/** What SQLite keeps of a file, beside it. */
const DATABASE_FILES = ["", "-wal", "-shm", "-journal"];

type Directory = Pick<
  DeepAgentOptions,
  "backend" | "canExecute" | "resultFolder" | "summarization" | "systemPrompt"
>;

function directory(
  { dir, shell, network = false, sandbox = "auto" }: RunSettings,
  checkpointer: BaseCheckpointSaver,
): Directory {
  if (dir === undefined) return {};
  // What other threads said is no business of a command.
  const { path } = checkpointer as Partial<Pick<SqliteSaver, "path">>;
  const hidden = path === undefined ? [] : DATABASE_FILES.map((end) => `${path}${end}`);
  const disk = shell
    ? shellBackend(dir, { isolation: sandbox, network, hidden })
    : withPermissions(diskBackend(dir), [FROZEN_FILES]);
  return {
    backend: ({ state }) => compositeBackend(disk, { [`${OWN_FOLDER}/`]: state }),
    canExecute: shell,
    ...(shell && {
      systemPrompt: commandsPrompt(dir, { isolated: isIsolated({ isolation: sandbox }), network }),
    }),
    resultFolder: `${OWN_FOLDER}/results`,
    summarization: { folder: `${OWN_FOLDER}/history` },
  };
}
