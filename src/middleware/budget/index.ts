import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { getCurrentTaskInput, interrupt } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { CONFIG, markMetadata } from "../../marks.ts";
import { idsInProgress, NO_ITEM } from "../../plan/todo/index.ts";
import { figuresIn, BUDGET_REASON, readPlanState } from "../plan/index.ts";
import { NO_TOKENS, sumTokens, usedTokens, type UsedTokens } from "../prices/index.ts";
import { hiddenMessage } from "../text/index.ts";
import type { Budget, ItemCosts, UsedUp } from "./account.ts";
import type { BudgetStop } from "./stop.ts";

export { Account, Budget } from "./account.ts";
export { BUDGET, BUDGET_LIMITS, LIMITS, PRICES } from "./check-options.ts";
export { type BudgetOptions, DEFAULT_BUDGET, type Limits, STEP_LIMIT } from "./options.ts";
export type { Resource } from "./spending.ts";
export { type BudgetStop, isBudgetStop } from "./stop.ts";

/**
 * Ends a run that has used up its budget: the main agent with a message that says so, a sub-agent with its report so
 * far. Adds no graph step, unlike LangChain's limit. Belongs innermost, so that retried calls count, too.
 */
export function budgetMiddleware(budget: Budget) {
  return createMiddleware({
    name: "BudgetMiddleware",
    wrapModelCall: async (request, handler) => {
      const { configurable } = request.runtime;
      const owner = configurable?.[CONFIG.owner] as string | undefined;
      const account = budget.accountOf(request.runtime);
      if (owner === undefined && account?.isPerItem) account.noteItems(itemCosts());
      const usedUp = account?.take();
      if (usedUp) return stop(usedUp, owner);
      const warnings = (account?.warnings(owner ?? "") ?? []).map((text) =>
        hiddenMessage({ name: "budget_warning", text }),
      );
      const answer = await handler(
        warnings.length > 0 ? { ...request, messages: [...request.messages, ...warnings] } : request,
      );
      account?.addTokens(tokensOf(answer));
      return answer;
    },
  });
}

/** The items' costs, from the task's input: LangChain passes only the middleware's own fields of the state. */
function itemCosts(): ItemCosts {
  const state = getCurrentTaskInput();
  const { todos, memory } = readPlanState(state);
  const { items, rest } = figuresIn(state);
  const inBackground = Object.values(memory.helpers).flatMap(({ item, spent }) =>
    spent ? [] : (item ?? []),
  );
  return { costs: { ...items, [NO_ITEM]: rest }, inProgress: idsInProgress(todos), inBackground };
}

function stop({ text, isResumable, resource }: UsedUp, owner: string | undefined): AIMessage {
  if (isResumable && owner !== undefined) {
    return interrupt<BudgetStop, never>({ type: "turn-limit", text, resource });
  }
  const message = new AIMessage({ content: text, response_metadata: { finish_reason: BUDGET_REASON } });
  markMetadata(message, { holdfast_used_up: resource });
  return message;
}

/** The usage of an answer. A structured response contains the messages of its model calls. */
function tokensOf(answer: AIMessage | { messages?: BaseMessage[] }): UsedTokens {
  const messages = AIMessage.isInstance(answer) ? [answer] : (answer.messages ?? []);
  return messages
    .map((message) => (AIMessage.isInstance(message) ? usedTokens(message) : NO_TOKENS))
    .reduce(sumTokens, NO_TOKENS);
}
