import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AnyAgentMiddleware } from "langchain";
import type { DeepAgentOptions } from "../deep/index.ts";
import type { PlanOptions } from "../middleware/plan/index.ts";
import type { SandboxOptions } from "../middleware/sandbox/index.ts";
import type { SkillSource } from "../middleware/skills/index.ts";
import type { SummarizationOptions } from "../middleware/summarization/index.ts";
import type { TitleOptions } from "../middleware/title/index.ts";

/** Options shared with `createDeepAgent`. `interruptOn`, `repeats` and `loopGuard` also apply to sub-agents. */
type SharedOptions = Pick<
  DeepAgentOptions,
  | "model"
  | "tools"
  | "mcp"
  | "web"
  | "goal"
  | "loopGuard"
  | "budget"
  | "subagents"
  | "background"
  | "interruptOn"
  | "repeats"
  | "checkpointer"
  | "store"
>;

/** Options for all requests. */
export interface LeadOptions extends SharedOptions {
  /** Models that a request may choose by `model_name`. */
  models?: Readonly<Record<string, BaseChatModel | string>>;
  /** For a `model_name` that is not in `models`: refuse the request, or use the default model and warn. Default `refuse`. */
  unknownModel?: "refuse" | "default";
  /** Added after the lead agent's own instructions. */
  systemPrompt?: DeepAgentOptions["systemPrompt"];
  /** Skills, as in `createDeepAgent`, in the folder `/mnt/user-data/skills`. `onWarning` gets those that cannot be used. */
  skills?: readonly SkillSource[];
  /** The base directory of the threads' folders. Default `.holdfast/threads`. */
  baseDir?: string;
  sandbox?: Omit<SandboxOptions, "baseDir">;
  /** `true` for the default options. Default: no summarization. `folder`: the folder of the conversation file. */
  summarization?: boolean | (SummarizationOptions & { folder?: string });
  /** The plan in plan mode. Default: preset `deerflow`. */
  plan?: PlanOptions;
  title?: TitleOptions;
  /** Further middleware, before the clarification; with `interruptOn` after clarification and consent. */
  middleware?: readonly AnyAgentMiddleware[];
  /** Receives warnings about a request. Default: a process warning. */
  onWarning?: (message: string) => void;
}
