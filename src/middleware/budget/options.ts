/**
 * What a run may spend: everything from one `invoke`, `stream` or resume to its end, in the main agent and all its
 * sub-agents at every depth. The counts are kept in memory and go on with no step or byte of state, so the next
 * message, or a resume, has the whole budget again. Where a deep agent is the sub-agent of another, both budgets hold.
 */
export interface BudgetOptions {
  /** Model calls, those among them that a middleware repeats; summaries and titles are not. Default 1,000. */
  modelCalls?: number;
  /** Tokens in and out, as the providers report them. Calls that are on their way go over it. Default: no limit. */
  tokens?: number;
}

/** Large enough for any work, and an end for what never ends by itself. */
export const DEFAULT_BUDGET = { modelCalls: 1000 } as const satisfies BudgetOptions;

/**
 * Graph steps of one agent: a limit behind the budget, for LangGraph's own is 25, a dozen tool calls, and ends a run
 * with an error in the place of an answer.
 */
export const STEP_LIMIT = 10_000;
