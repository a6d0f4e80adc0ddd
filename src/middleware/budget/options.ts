import type { Prices } from "../prices/index.ts";

/** The most that may be spent, of each that is given. */
export interface Limits {
  /** Model calls, those among them that a middleware repeats; summaries and titles are not. */
  modelCalls?: number;
  /** Tokens in and out, as the providers report them. */
  tokens?: number;
  /** US dollars, by `prices`. */
  cost?: number;
  /** Milliseconds. Waiting for a person does not count: it ends the invocation. */
  ms?: number;
}

/**
 * The budget of a run: everything from one `invoke`, `stream` or resume to its end, in the main agent and all its
 * sub-agents at every depth. The counts are kept in memory and cost no step or byte of state, so the next message, or
 * a resume, has the whole budget again. Where a deep agent is the sub-agent of another, both budgets hold. The budget
 * is checked before a model call: calls on their way may exceed it. When four fifths of a limit are spent, each
 * working agent is told once. Default: 1,000 model calls, and no other limit.
 */
export interface BudgetOptions extends Limits {
  /** Limits for each item of the main plan, its sub-agents' spending included. */
  perItem?: Limits;
  /** Prices of tokens, for all models of the run alike. Needed for `cost`. */
  prices?: Prices;
}

/** Large enough for any work, and an end for what never ends by itself. */
export const DEFAULT_BUDGET = { modelCalls: 1000 } as const satisfies BudgetOptions;

/**
 * Graph steps of one agent: a limit behind the budget, for LangGraph's own is 25, a dozen tool calls, and ends a run
 * with an error in the place of an answer.
 */
export const STEP_LIMIT = 10_000;
