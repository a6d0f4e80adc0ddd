import type { Budget } from "../middleware/budget/account.ts";
import type { PlanParts } from "../middleware/plan/plan-call/turn.ts";
import type { CompiledSubagent } from "./spec.ts";

/** Options of `subagentsMiddleware`. */
export interface SubagentsOptions {
  subagents: readonly CompiledSubagent[];
  /** The number of sub-agents at once; more wait for their turn. Default 8. */
  maxConcurrency?: number;
  /** The caller's plan, whose items can follow a sub-agent (`todo_id`). */
  plan?: PlanParts | undefined;
  /** The caller's budget, from which they spend. */
  budget?: Budget | undefined;
  /** Whether they may also work while their caller goes on. Default: it waits for them. */
  background?: boolean;
  /** Why none of them may be started, where the tool is there only so that requests begin alike. */
  refusal?: string;
}
