import { interrupt, isGraphBubbleUp } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";

/** An action that the user reviews, as LangChain's user interfaces show it. */
export interface ReviewedAction {
  name: string;
  args: Record<string, unknown>;
  description: string;
}

/** The decisions allowed for an action. */
export interface ReviewRule {
  allowedDecisions: readonly string[];
  /** JSON Schema of the arguments, for editing them. */
  argsSchema?: Record<string, unknown>;
}

/** The fields of LangChain's human-in-the-loop requests, in both spellings that user interfaces read. */
export interface ReviewFields {
  actionRequests: ReviewedAction[];
  action_requests: ReviewedAction[];
  reviewConfigs: { actionName: string; allowedDecisions: string[]; argsSchema?: object }[];
  review_configs: { action_name: string; allowed_decisions: string[]; args_schema?: object }[];
}

export function reviewFields(reviews: readonly { action: ReviewedAction; rule: ReviewRule }[]): ReviewFields {
  const actions = reviews.map(({ action }) => action);
  return {
    actionRequests: actions,
    action_requests: actions,
    reviewConfigs: reviews.map(({ action: { name }, rule: { allowedDecisions, argsSchema } }) => ({
      actionName: name,
      allowedDecisions: [...allowedDecisions],
      ...(argsSchema && { argsSchema }),
    })),
    review_configs: reviews.map(({ action: { name }, rule: { allowedDecisions, argsSchema } }) => ({
      action_name: name,
      allowed_decisions: [...allowedDecisions],
      ...(argsSchema && { args_schema: argsSchema }),
    })),
  };
}

/**
 * Interrupts the run until the user answers, and returns the answer. Throws `invalid-options` without a checkpointer,
 * which names `asker`.
 */
export function askUser(request: object, asker: string): unknown {
  try {
    return interrupt(request);
  } catch (error) {
    if (isGraphBubbleUp(error)) throw error;
    const message = `${asker} needs a checkpointer; pass one to createAgent, and a thread_id to invoke.`;
    throw new HarnessError("invalid-options", message, { cause: error });
  }
}
