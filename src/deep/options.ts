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
import type { ModelSettings } from "../models/index.ts";
import type { CompiledSubagent, SubagentTerms } from "../subagents/index.ts";
import { type Effort } from "../vocabulary.ts";
import type { WebOptions } from "../web/index.ts";

export type AnyTool = ClientTool | ServerTool;

/** A sub-agent described by its options. Others are inherited from its parent. */
export interface SubagentSpec extends SubagentTerms {
  /** Its system prompt; `prompt` is an alias. Default: the parent's. */
  systemPrompt?: string | SystemMessage;
  prompt?: string;
  /**
   * Its tools. A name stands for the parent's tool; with any names, it has only those file and web tools, plan and
   * sub-agents that are named. Default: the parent's tools.
   */
  tools?: readonly (AnyTool | string)[];
  /**
   * Its MCP servers. `true`: the parent's. `only`: some of the parent's servers or tools (`mcp__server__tool`). Default:
   * none; for a fork the parent's.
   */
  mcp?: boolean | { only: readonly string[] } | McpOptions | McpServers;
  /** Whether it has the parent's web tools. Default: true, unless it has `tools`. */
  web?: boolean;
  /** Its file tools. Default: the parent's. */
  fileTools?: readonly FileToolChoice[];
  /** Its skills; `only`: some of the parent's, by name. Default: the parent's. */
  skills?: readonly SkillSource[] | { only: readonly string[] };
  /** Its instructions. Default: the parent's list. */
  instructions?: readonly InstructionSource[];
  /** `false`: it has no sub-agents, whatever `maxDepth` allows. */
  subagents?: false;
  /** Default: the parent's model. */
  model?: BaseChatModel | string;
  /** How much its model thinks, if the model has such a setting. Default, with the parent's model: the parent's. */
  effort?: Effort;
  /** Settings of its model: `temperature`, `maxTokens`, or another `model` of the same provider. */
  modelSettings?: ModelSettings;
  middleware?: readonly AnyAgentMiddleware[];
  plan?: false | PlanOptions;
  responseFormat?: ResponseFormat;
  /** Rules for its files, in addition to the parent's: what either denies is denied. */
  permissions?: readonly PermissionRule[];
  /** Tools that wait for consent, in addition to the parent's; `false` exempts one of the parent's. */
  interruptOn?: Record<string, boolean | ConsentRule>;
  /**
   * Fields of its state. It receives the values of fields that the parent's `stateSchema` has, too, and its changes come
   * back: added items of a list, changed entries of a record, else the value. They go through the parent's reducer, which
   * a shared field must have, as several sub-agents may change it at the same time.
   */
  stateSchema?: StateDefinitionInit;
}

/** Options of `createDeepAgent`. */
export interface DeepAgentOptions extends Omit<FilesOptions, "systemPrompt"> {
  /** An instance or `provider:name`. Default: chosen from the environment, see `chooseModel`. */
  model?: BaseChatModel | string;
  /** How much the model thinks, if it has such a setting. Default: the model's own. */
  effort?: Effort;
  tools?: readonly AnyTool[];
  /**
   * MCP servers in the form of `.mcp.json`, and options for them; see `mcpTools`. They start with the first model call,
   * are shared by agents with the same object, and stop when they are not used any more, or with this process.
   */
  mcp?: McpOptions | McpServers;
  /** Adds `web_fetch`, and `web_search` if there is a key for it; see `webTools`. Default false. */
  web?: boolean | WebOptions;
  /** The agent's role and way of working; a text in `instructions` is an alias. */
  systemPrompt?: string | SystemMessage;
  /**
   * Additions to the system prompt, also of sub-agents: texts, and files such as `{ file: "AGENTS.md" }`, which are read
   * again when they change. At most 32 KiB in total; files that cannot be read are left out.
   */
  instructions?: string | readonly InstructionSource[];
  /**
   * Skills, also for sub-agents: folders on disk or in a backend, with a folder and a `SKILL.md` for each skill. Of two
   * skills with one name the later one wins. Names and descriptions are in the prompt, the rest is read when needed, and
   * `/name` in a message calls one. A skill that cannot be used causes a process warning.
   */
  skills?: readonly SkillSource[];
  /**
   * The folder of skills for the file tools. Default: `/.skills`, or with commands the skill's own folder on this machine.
   * Commands of a sandbox get copies: name a folder that they can write to.
   */
  skillsFolder?: string;
  subagents?: readonly (SubagentSpec | CompiledSubagent)[];
  /** Whether there are the built-in sub-agents `general-purpose` and `reader`. Default true. */
  generalPurpose?: boolean;
  /** The most sub-agents at once. Default 8. */
  maxConcurrency?: number;
  /**
   * Whether sub-agents may work in the background (`task({ …, background: true })`): the agent continues, and their
   * reports come with later tool results. An agent that would end waits for them. Default false.
   */
  background?: boolean;
  /** The most levels of sub-agents. Default 1: sub-agents have none. */
  maxDepth?: number;
  /** Options of `planMiddleware`; `false` for no planning. */
  plan?: false | PlanOptions;
  /**
   * Criteria for the whole work, `{ criteria, judge }`: code or a model judges them when the agent wants to end, and
   * sends the answer back with reasons, at most twice. Not for sub-agents. See `goalMiddleware`.
   */
  goal?: GoalOptions;
  /** See `summarizationMiddleware`. `folder`: the folder of the conversation file. Default `/.history`. */
  summarization?: false | (SummarizationOptions & { folder?: string });
  /**
   * Stops an agent or sub-agent that repeats the same tool calls, after a warning. `false` for no loop guard. See
   * `loopGuardMiddleware`.
   */
  loopGuard?: false | LoopGuardOptions;
  /**
   * The budget of a run, including its sub-agents. When it is used up, the main agent ends with a message that says so
   * (finish reason `budget`), a sub-agent with its report so far. Default: 1,000 model calls; `false`: no limit.
   */
  budget?: false | BudgetOptions;
  /** Further middleware. One with the name of a default middleware replaces it. */
  middleware?: readonly AnyAgentMiddleware[];
  /** Names of default middleware to leave out. */
  without?: readonly DefaultMiddlewareName[];
  /** Tools that wait for the user's consent, as in LangChain's `humanInTheLoopMiddleware`; see `consentMiddleware`. */
  interruptOn?: Record<string, boolean | ConsentRule>;
  /**
   * The policy for calls that were running when a run was stopped, by tool, also in sub-agents. Default: a call that
   * needs consent is asked about again, the outcome of any other is unknown; see `RepeatOptions`. `false`: all are run
   * again as new calls. Needs a checkpointer, and a `durability` other than `exit`.
   */
  repeats?: false | RepeatOptions;
  stateSchema?: StateDefinitionInit;
  contextSchema?: unknown;
  checkpointer?: BaseCheckpointSaver | boolean;
  store?: BaseStore;
  responseFormat?: unknown;
  name?: string;
  /** Further projections for `streamEvents`, as in `createAgent`. */
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
