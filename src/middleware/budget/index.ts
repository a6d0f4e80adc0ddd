import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { interrupt } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { OWNER_KEY } from "../plan/events.ts";
import { BUDGET_REASON } from "../plan/messages/final-answer.ts";
import type { Budget, UsedUp } from "./account.ts";

/** The interrupt of a sub-agent that waits for a new budget. */
export interface BudgetStop {
  type: "turn-limit";
  text: string;
}

/** Whether an interrupt is no question: it waits for nobody's answer. */
export function isBudgetStop(value: unknown): value is BudgetStop {
  return typeof value === "object" && value !== null && "type" in value && value.type === "turn-limit";
}

/**
 * Ends a run that has used up its budget: the main agent with a message that says so, a sub-agent with its report so
 * far. Takes no graph step, unlike LangChain's limit. Stands innermost, so that no repeated call escapes it.
 */
export function budgetMiddleware(budget: Budget) {
  return createMiddleware({
    name: "BudgetMiddleware",
    wrapModelCall: async (request, handler) => {
      const account = budget.accountOf(request.runtime);
      const usedUp = account?.take();
      if (usedUp) return stop(usedUp, request.runtime.configurable);
      const answer = await handler(request);
      account?.addTokens(tokensOf(answer));
      return answer;
    },
  });
}

function stop({ text, isResumable }: UsedUp, configurable: Record<string, unknown> | undefined): AIMessage {
  const isSubagent = configurable?.[OWNER_KEY] !== undefined;
  if (isResumable && isSubagent) return interrupt<BudgetStop, never>({ type: "turn-limit", text });
  return new AIMessage({ content: text, response_metadata: { finish_reason: BUDGET_REASON } });
}

/** A structured response comes with the messages that carry it. */
function tokensOf(answer: AIMessage | { messages?: BaseMessage[] }): number {
  const messages = AIMessage.isInstance(answer) ? [answer] : (answer.messages ?? []);
  return messages.reduce((total, message) => {
    const { input_tokens = 0, output_tokens = 0 } =
      (AIMessage.isInstance(message) && message.usage_metadata) || {};
    return total + input_tokens + output_tokens;
  }, 0);
}
