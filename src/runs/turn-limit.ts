import { AIMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { TURN_LIMIT_REASON } from "../middleware/plan/final-answer.ts";

/**
 * Ends a run after a number of model calls of the main agent; the plan stays as it is. Counts from the moment it is
 * made, so a resumed run has all its turns again. Takes no graph step, unlike LangChain's limit.
 */
export function turnLimitMiddleware(maxTurns: number) {
  let turns = 0;
  return createMiddleware({
    name: "TurnLimitMiddleware",
    wrapModelCall: async (request, handler) => {
      turns += 1;
      if (turns <= maxTurns) return handler(request);
      const content = `Stopped after ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}, as asked.`;
      return new AIMessage({ content, response_metadata: { finish_reason: TURN_LIMIT_REASON } });
    },
  });
}
