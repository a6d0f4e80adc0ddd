import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { AnyAgentMiddleware } from "langchain";
import type { DeepAgentOptions } from "../deep/index.ts";
import type { PlanOptions } from "../middleware/plan/index.ts";
import type { SandboxOptions } from "../middleware/sandbox/index.ts";
import type { SkillSource } from "../middleware/skills/index.ts";
import type { SummarizationOptions } from "../middleware/summarization/index.ts";
import type { TitleOptions } from "../middleware/title/index.ts";

/** Options of the lead agent that are those of `createDeepAgent`; `interruptOn`, `repeats` and `loopGuard` also hold in sub-agents. */
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
  /** A `model_name` that is not among `models`: refuse the request, or use the default model and say so. Default `refuse`. */
  unknownModel?: "refuse" | "default";
  /** Comes after the lead agent's own instructions. */
  systemPrompt?: DeepAgentOptions["systemPrompt"];
  /** Skills, as in `createDeepAgent`; they are in `/mnt/user-data/skills`. One that cannot be used is told to `onWarning`. */
  skills?: readonly SkillSource[];
  /** Where the threads' folders are. Default `.holdfast/threads`. */
  baseDir?: string;
  sandbox?: Omit<SandboxOptions, "baseDir">;
  /** Switched on by giving it, `true` for the defaults. `folder`: where the file tools show the conversation. */
  summarization?: boolean | (SummarizationOptions & { folder?: string });
  /** The plan in plan mode. Default: preset `deerflow`. */
  plan?: PlanOptions;
  title?: TitleOptions;
  /** Further middleware, in front of the clarification, which is last unless `interruptOn` puts it first. */
  middleware?: readonly AnyAgentMiddleware[];
  /** Told what is odd about a request. Default: a process warning. */
  onWarning?: (message: string) => void;
}
