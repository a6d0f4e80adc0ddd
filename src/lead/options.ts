import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { SystemMessage } from "@langchain/core/messages";
import type { ClientTool, ServerTool } from "@langchain/core/tools";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph";
import type { AnyAgentMiddleware } from "langchain";
import type { SubagentSpec } from "../deep/options.ts";
import type { McpOptions } from "../mcp/options.ts";
import type { McpServers } from "../mcp/servers.ts";
import type { BudgetOptions } from "../middleware/budget/options.ts";
import type { ConsentRule } from "../middleware/consent/options.ts";
import type { GoalOptions } from "../middleware/goal/options.ts";
import type { LoopGuardOptions } from "../middleware/loop-guard/index.ts";
import type { PlanOptions } from "../middleware/plan/options.ts";
import type { RepeatOptions } from "../middleware/repeats/options.ts";
import type { SandboxOptions } from "../middleware/sandbox/index.ts";
import type { SkillSource } from "../middleware/skills/skill.ts";
import type { SummarizationOptions } from "../middleware/summarization/index.ts";
import type { TitleOptions } from "../middleware/title/index.ts";
import type { CompiledSubagent } from "../subagents/spec.ts";
import type { WebOptions } from "../web/options.ts";

/** Options for all requests. */
export interface LeadOptions {
  /** The default model: an instance, `provider:name`, or by default whatever the environment says. */
  model?: BaseChatModel | string;
  /** Models that a request may choose by `model_name`. */
  models?: Readonly<Record<string, BaseChatModel | string>>;
  /** A `model_name` that is not among `models`: refuse the request, or use the default model and say so. Default `refuse`. */
  unknownModel?: "refuse" | "default";
  tools?: readonly (ClientTool | ServerTool)[];
  /** MCP servers, shared by the agents of all requests that get the same object, as in `createDeepAgent`. */
  mcp?: McpOptions | McpServers;
  /** `web_fetch`, and `web_search` where there is a key for it, as in `createDeepAgent`. Default false. */
  web?: boolean | WebOptions;
  /** Comes after the lead agent's own instructions. */
  systemPrompt?: string | SystemMessage;
  /** Skills, as in `createDeepAgent`; they are in `/mnt/user-data/skills`. One that cannot be used is told to `onWarning`. */
  skills?: readonly SkillSource[];
  /** Where the threads' folders are. Default `.holdfast/threads`. */
  baseDir?: string;
  sandbox?: Omit<SandboxOptions, "baseDir">;
  /** Switched on by giving it, `true` for the defaults. `folder`: where the file tools show the conversation. */
  summarization?: boolean | (SummarizationOptions & { folder?: string });
  /** The plan in plan mode. Default: preset `deerflow`. */
  plan?: PlanOptions;
  /** Criteria for the whole work, as in `createDeepAgent`. */
  goal?: GoalOptions;
  title?: TitleOptions;
  /** Stops a model that makes the same tool calls over and over, also in sub-agents; `false` leaves it out. */
  loopGuard?: false | LoopGuardOptions;
  /** The budget of a run, its sub-agents' work included, as in `createDeepAgent`. Default: 1,000 model calls. */
  budget?: false | BudgetOptions;
  subagents?: readonly (SubagentSpec | CompiledSubagent)[];
  /** Whether sub-agents may work in the background, as in `createDeepAgent`. */
  background?: boolean;
  /** Further middleware, in front of the clarification, which is last unless `interruptOn` puts it first. */
  middleware?: readonly AnyAgentMiddleware[];
  /** Tools that wait for a person's consent, also in sub-agents; see `consentMiddleware`. */
  interruptOn?: Record<string, boolean | ConsentRule>;
  /** The policy for calls that were under way when a run was stopped, as in `createDeepAgent`. */
  repeats?: false | RepeatOptions;
  checkpointer?: BaseCheckpointSaver | boolean;
  store?: BaseStore;
  /** Told what is odd about a request. Default: a process warning. */
  onWarning?: (message: string) => void;
}
