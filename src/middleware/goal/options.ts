import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { Todo } from "../../plan/index.ts";
import { hasMethods } from "../options/index.ts";

/** The arguments of a judge. */
export interface GoalContext {
  criteria: readonly string[];
  /** The text with which the model wants to end. */
  answer: string;
  messages: readonly BaseMessage[];
  todos: readonly Todo[];
  /** The whole graph state, such as `files`. */
  state: Readonly<Record<string, unknown>>;
  signal?: AbortSignal;
}

/** Decides whether the goal is met. */
export type GoalJudge = (context: GoalContext) => GoalVerdict | Promise<GoalVerdict>;

/** A judge's verdict: `true` or nothing accepts the answer, `false` or reasons send it back. */
export type GoalVerdict = boolean | string | readonly string[] | null | void;

/** Options of `goalMiddleware`. */
export interface GoalOptions {
  /** Conditions for the whole work. They are in the system prompt from the beginning. */
  criteria: readonly string[];
  /** Code, or a model: an instance or `provider:name`. Default: the agent's model. */
  judge?: GoalJudge | BaseChatModel | string;
}

/** The outcome of the last judgement, `goal` in the graph state. An error of the judge leaves `met` out. */
export interface GoalOutcome {
  met?: boolean;
  reasons: string[];
}

export const GOAL = z.strictObject({
  criteria: z.array(z.string().min(1, "must not be empty")).min(1, "must name a criterion"),
  judge: z
    .custom<unknown>(
      (value) => typeof value === "function" || typeof value === "string" || hasMethods(value, ["invoke"]),
      'must be a function, a chat model or "provider:name"',
    )
    .optional(),
} satisfies Record<keyof GoalOptions, z.ZodType>);
