import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { SystemMessage } from "@langchain/core/messages";
import type { ClientTool, ServerTool } from "@langchain/core/tools";
import type { BaseCheckpointSaver, BaseStore, StateDefinitionInit } from "@langchain/langgraph";
import type { AnyAgentMiddleware, CreateAgentParams, ResponseFormat } from "langchain";
import type { PermissionRule } from "../files/index.ts";
import type { McpOptions, McpServers } from "../mcp/index.ts";
import type { BudgetOptions } from "../middleware/budget/index.ts";
import type { ConsentRule } from "../middleware/consent/index.ts";
import type { FilesOptions, FileToolChoice } from "../middleware/files/index.ts";
import type { GoalOptions } from "../middleware/goal/index.ts";
import type { InstructionSource } from "../middleware/instructions/index.ts";
import type { LoopGuardOptions } from "../middleware/loop-guard/index.ts";
import type { PlanOptions } from "../middleware/plan/index.ts";
import type { RepeatOptions } from "../middleware/repeats/index.ts";
import type { SkillSource } from "../middleware/skills/index.ts";
import type { SummarizationOptions } from "../middleware/summarization/index.ts";
import type { ModelSettings, EffortSetting } from "../models/index.ts";
import type { CompiledSubagent, SubagentTerms } from "../subagents/index.ts";
import type { WebOptions } from "../web/index.ts";

export type AnyTool = ClientTool | ServerTool;

/** A sub-agent described by its parts. What it leaves out it has from its parent. */
export interface SubagentSpec extends SubagentTerms {
  /** Its instructions; `prompt` is the same. */
  systemPrompt?: string | SystemMessage;
  prompt?: string;
  /**
   * Its tools. A name stands for the parent's tool; where there are names, it has no file or web tools, plan or
   * sub-agents but those that are named. Default: the parent's tools.
   */
  tools?: readonly (AnyTool | string)[];
  /**
   * MCP servers of its own; `true`: the parent's; `only`: those servers or tools (`mcp__server__tool`) of the parent's.
   * Default: none. A fork has the parent's.
   */
  mcp?: boolean | { only: readonly string[] } | McpOptions | McpServers;
  /** Web tools; `true`: the parent's, if it has any. Default: the parent's, unless it has `tools`. */
  web?: boolean;
  /** The file tools that it has. Default: the parent's. */
  fileTools?: readonly FileToolChoice[];
  /** Skills in place of the parent's; `only`: those of the parent's with these names. */
  skills?: readonly SkillSource[] | { only: readonly string[] };
  /** Instructions in place of the parent's list. */
  instructions?: readonly InstructionSource[];
  /** `false`: it has no sub-agents, however deep they may go. */
  subagents?: false;
  /** Default: the parent's model. */
  model?: BaseChatModel | string;
  /** How much its model thinks, where that can be told. Default: as the parent's, with the parent's model. */
  effort?: EffortSetting;
  /** Settings of its model: `temperature`, `maxTokens`, or another `model` of the same provider. */
  modelSettings?: ModelSettings;
  middleware?: readonly AnyAgentMiddleware[];
  plan?: false | PlanOptions;
  responseFormat?: ResponseFormat;
  /** Rules for its files, which come on top of the parent's: what either denies is denied. */
  permissions?: readonly PermissionRule[];
  /** Tools that wait for consent, beside the parent's; `false` for one that waits there and need not here. */
  interruptOn?: Record<string, boolean | ConsentRule>;
  /**
   * Fields of its state. Those that the parent's `stateSchema` has too are given to it, and its changes come back: of a
   * list what was added, of a record the entries that changed, else the value. They go through the parent's reducer,
   * which a shared field must have, as several sub-agents may change it at the same time.
   */
  stateSchema?: StateDefinitionInit;
}

/** Options of `createDeepAgent`. */
export interface DeepAgentOptions extends Omit<FilesOptions, "systemPrompt"> {
  /** An instance or `provider:name`. Default: chosen from the environment, see `chooseModel`. */
  model?: BaseChatModel | string;
  /** How much the model thinks, where that can be told. Default: as it is set, or as it decides. */
  effort?: EffortSetting;
  tools?: readonly AnyTool[];
  /**
   * MCP servers, as `.mcp.json` has them, and how they are used; see `mcpTools`. They are started with the first model
   * call, shared by agents that get the same object, and end when they are not used, or with this process.
   */
  mcp?: McpOptions | McpServers;
  /** `web_fetch`, and `web_search` where there is a key for it; see `webTools`. Default false. */
  web?: boolean | WebOptions;
  /** The agent's role and way of working; a text in `instructions` is the same. */
  systemPrompt?: string | SystemMessage;
  /**
   * A list adds to the system prompt, also of sub-agents: texts, and files such as `{ file: "AGENTS.md" }`, which are read
   * again when they change. At most 32 KiB together; what cannot be read is left out.
   */
  instructions?: string | readonly InstructionSource[];
  /**
   * Skills, also for sub-agents: folders that hold one folder with a `SKILL.md` for each, on disk or in a backend; of two
   * with one name the later one counts. Names and descriptions are in the prompt, the rest is read when it is needed, and
   * `/name` in a message calls one. One that cannot be used is a process warning.
   */
  skills?: readonly SkillSource[];
  /**
   * The folder that the file tools find skills in. Default: `/.skills`, or where commands are run the skill's own folder
   * on this machine. Commands of a sandbox get copies: name a folder that they can write to.
   */
  skillsFolder?: string;
  subagents?: readonly (SubagentSpec | CompiledSubagent)[];
  /** `false` leaves `general-purpose` and `reader` out: there are the sub-agents of `subagents` alone. Default true. */
  generalPurpose?: boolean;
  /** The number of sub-agents at once. Default 8. */
  maxConcurrency?: number;
  /**
   * Whether sub-agents may work in the background (`task({ …, background: true })`): the agent goes on, and their reports
   * come with later tool results. An agent that would end waits for them. Default: no, and it costs nothing.
   */
  background?: boolean;
  /** The depth to which sub-agents may call sub-agents. Default 1: they do not. */
  maxDepth?: number;
  /** Options of `planMiddleware`; `false` leaves planning out. */
  plan?: false | PlanOptions;
  /**
   * Criteria for the whole work, `{ criteria, judge }`: judged by code or a model when the agent wants to end, and sent
   * back with the reasons at most twice. Not for sub-agents. See `goalMiddleware`.
   */
  goal?: GoalOptions;
  /** See `summarizationMiddleware`. `folder`: where the file tools show the conversation. Default `/.history`. */
  summarization?: false | (SummarizationOptions & { folder?: string });
  /**
   * Stops an agent that makes the same tool calls over and over, first with a warning; its sub-agents, too. `false`
   * leaves it out. See `loopGuardMiddleware`.
   */
  loopGuard?: false | LoopGuardOptions;
  /**
   * The budget of a run, its sub-agents' work included. When it is used up, the main agent ends with a message that
   * says so (finish reason `budget`), a sub-agent with its report so far. Default: 1,000 model calls; `false`: no
   * end.
   */
  budget?: false | BudgetOptions;
  /** Further middleware. One with the name of a default takes its place. */
  middleware?: readonly AnyAgentMiddleware[];
  /** Names of default middleware to leave out. */
  without?: readonly DefaultMiddlewareName[];
  /** Tools that wait for a person's consent, as in LangChain's `humanInTheLoopMiddleware`; see `consentMiddleware`. */
  interruptOn?: Record<string, boolean | ConsentRule>;
  /**
   * The policy for calls that were under way when a run was stopped, by tool, also in sub-agents. Default: a call
   * that needs consent is asked about again, the outcome of another is unknown; see `RepeatOptions`. `false`: all are
   * run again as if nothing had happened. Needs a checkpointer, and a `durability` that is not `exit`.
   */
  repeats?: false | RepeatOptions;
  stateSchema?: StateDefinitionInit;
  contextSchema?: unknown;
  checkpointer?: BaseCheckpointSaver | boolean;
  store?: BaseStore;
  responseFormat?: unknown;
  name?: string;
  /** As in `createAgent`: further projections of a run of `streamEvents`. */
  streamTransformers?: CreateAgentParams["streamTransformers"];
}

/** The names of the default middleware, in their order. */
export const DEFAULT_MIDDLEWARE = [
  "GoalMiddleware",
  "SummarizationMiddleware",
  "toolErrorMiddleware",
  "McpMiddleware",
  "OrderedCallsMiddleware",
  "PlanMiddleware",
  "FilesMiddleware",
  "InstructionsMiddleware",
  "SkillsMiddleware",
  "SubagentsMiddleware",
  "HumanInTheLoopMiddleware",
  "RepeatsMiddleware",
  "LoopGuardMiddleware",
  "BrokenCallsMiddleware",
  "DanglingCallsMiddleware",
  "EmptyAnswersMiddleware",
  "PromptCachingMiddleware",
  "BudgetMiddleware",
  "SecretsMiddleware",
] as const;
/** The name of a default middleware of `createDeepAgent`, for `without` and replacements. */
export type DefaultMiddlewareName = (typeof DEFAULT_MIDDLEWARE)[number];
