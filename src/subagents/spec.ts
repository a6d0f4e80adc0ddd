import type { Runnable } from "@langchain/core/runnables";
import { HarnessError } from "../errors.ts";
import type { Budget, Limits } from "../middleware/budget/index.ts";
import type { PlanParts } from "../middleware/plan/index.ts";

/** Options of every sub-agent, whoever built it. */
export interface SubagentTerms {
  name: string;
  /** Tells the model when to use it. */
  description: string;
  /** Milliseconds; at the limit it is stopped, and what it has found so far is its report. Default: none. */
  timeLimit?: number;
  /** Limits of its own, besides those of the run: at one of them its report so far goes back. Default: none. */
  budget?: Pick<Limits, "modelCalls" | "tokens">;
  /** Begins with the caller's conversation, and its task at the end. Default: it knows only its task. */
  fork?: boolean;
}

/** A sub-agent that is ready to run: anything that takes `messages` (and `files`) and returns them. */
export interface CompiledSubagent extends SubagentTerms {
  runnable: SubagentRunnable;
  /** Its `files` are all there are, so that missing ones count as deleted. Default: they are added to the caller's. */
  ownsFiles?: boolean;
  /** Fields of the caller's state that it is given, and whose changes come back through the caller's reducers. */
  stateFields?: readonly string[];
}

/** A LangChain agent, a LangGraph graph, or any runnable with the same state. */
export type SubagentRunnable =
  | Pick<Runnable<object, object>, "invoke">
  | { invoke: (input: never, config?: never) => Promise<object> };

/** Refuses names that the model could not tell apart or call. */
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
  /** The number of sub-agents at once; more wait for their turn. Default 8. */
  maxConcurrency?: number;
  /** The caller's plan, whose items can follow a sub-agent (`todo_id`). */
  plan?: PlanParts | undefined;
  /** The caller's budget, from which they spend. */
  budget?: Budget | undefined;
  /** Lets them also work while their caller goes on. Default: it waits for them. */
  background?: boolean;
  /** Why none of them may be started, where the tool is there only so that requests begin alike. */
  refusal?: string;
}
