import type { Prices } from "../prices/index.ts";

/** The most that may be spent. A resource that is left out has no limit. */
export interface Limits {
  /** Model calls, including those that a middleware repeats, without summaries and titles. */
  modelCalls?: number;
  /** Tokens in and out, as the providers report them. */
  tokens?: number;
  /** US dollars, by `prices`. */
  cost?: number;
  /** Milliseconds, without waiting for the user, which ends the invocation. */
  ms?: number;
}

/**
 * The budget of a run, from one `invoke`, `stream` or resume to its end, for the main agent and all its sub-agents at
 * every depth. Counts are kept in memory and cost no graph step or state, so the next message or a resume has the whole
 * budget again. If a deep agent is the sub-agent of another, both budgets hold. The budget is checked before each model
 * call: calls running may exceed it. At 80% of a limit each working agent is warned once. Default: 1,000 model calls,
 * and no other limit.
 */
export interface BudgetOptions extends Limits {
  /** Limits for each item of the main plan, including its sub-agents' spending. */
  perItem?: Limits;
  /** Token prices for all models of the run. Required for `cost`. */
  prices?: Prices;
}

/** Large enough for any task, but stops an agent that would never end. */
export const DEFAULT_BUDGET = { modelCalls: 1000 } as const satisfies BudgetOptions;

/**
 * The most graph steps of one agent, beyond what any budget allows. LangGraph's default of 25 is a dozen tool calls, and
 * ends a run with an error instead of an answer.
 */
export const STEP_LIMIT = 10_000;
