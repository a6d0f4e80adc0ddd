import type { Runnable } from "@langchain/core/runnables";
import { HarnessError } from "../errors.ts";
import type { Budget, Limits } from "../middleware/budget/index.ts";
import type { PlanParts } from "../middleware/plan/index.ts";

/** Options of every sub-agent, compiled or described. */
export interface SubagentTerms {
  name: string;
  /** When to use it, for the model. */
  description: string;
  /** Milliseconds; at the limit it is stopped, and returns its report so far. Default: none. */
  timeLimit?: number;
  /** Limits of its own, besides those of the run; at a limit it returns its report so far. Default: none. */
  budget?: Pick<Limits, "modelCalls" | "tokens">;
  /** Whether it starts with the caller's conversation before its task. Default false: it knows only its task. */
  fork?: boolean;
}

/** A sub-agent that is ready to run: any runnable that takes `messages` (and `files`) and returns them. */
export interface CompiledSubagent extends SubagentTerms {
  runnable: SubagentRunnable;
  /** The name of its own model, for users. */
  model?: string;
  /** Whether its `files` are complete, so that missing ones count as deleted. Default: they are added to the caller's. */
  ownsFiles?: boolean;
  /** Fields of the caller's state that it receives; its changes come back through the caller's reducers. */
  stateFields?: readonly string[];
}

/** A LangChain agent, a LangGraph graph, or any runnable with the same state. */
export type SubagentRunnable =
  | Pick<Runnable<object, object>, "invoke">
  | { invoke: (input: never, config?: never) => Promise<object> };

/** Throws `invalid-options` for sub-agents that the model could not distinguish or call. */
export function checkNames(subagents: readonly { name: string; description: string }[]): void {
  const seen = new Set<string>();
  for (const { name, description } of subagents) {
    if (!/^[\w-]+$/.test(name)) fail(`"${name}" is not a name; use letters, digits, - and _`);
    if (seen.has(name)) fail(`two sub-agents are called "${name}"`);
    if (!description) fail(`"${name}" has no description; the model chooses by it`);
    seen.add(name);
  }
}

function fail(reason: string): never {
  throw new HarnessError("invalid-options", `Sub-agents: ${reason}.`);
}

/** Options of `subagentsMiddleware`. */
export interface SubagentsOptions {
  subagents: readonly CompiledSubagent[];
  /** The most sub-agents at once; others wait. Default 8. */
  maxConcurrency?: number;
  /** The caller's plan, whose items can follow a sub-agent (`todo_id`) if the preset shows ids. */
  plan?: PlanParts;
  /** The caller's budget, from which they spend. */
  budget?: Budget;
  /** Whether they may work in the background while their caller continues. Default: it waits for them. */
  background?: boolean;
  /** Whether a report has no line about its verdict, which is in the message's artifact. */
  isBare?: boolean;
  /** The answer to every call, for an agent that has the tool only so that its requests begin like its caller's. */
  refusal?: string;
}
