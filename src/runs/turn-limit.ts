import { AIMessage } from "@langchain/core/messages";
import { interrupt, type StateSnapshot } from "@langchain/langgraph";
import { createMiddleware } from "langchain";
import { TURN_LIMIT_REASON } from "../middleware/plan/messages/final-answer.ts";
import { isTurnLimit, type TurnLimitStop } from "./questions.ts";

/**
 * Ends a run after a number of model calls, those of sub-agents included; the plan stays as it is. Counts from the
 * moment it is made, so a resumed run has all its turns again: make one for each run. Takes no graph step, unlike
 * LangChain's limit. The main agent ends with a message; a sub-agent is left where it is, with all it has done, and
 * goes on from there when the run is resumed.
 */
export function turnLimit(maxTurns: number) {
  const text = `Stopped after ${maxTurns} ${maxTurns === 1 ? "turn" : "turns"}, as asked.`;
  let turns = 0;
  const limited = (stop: () => AIMessage) =>
    createMiddleware({
      name: "TurnLimitMiddleware",
      wrapModelCall: async (request, handler) => {
        turns += 1;
        return turns <= maxTurns ? handler(request) : stop();
      },
    });
  return {
    main: limited(
      () => new AIMessage({ content: text, response_metadata: { finish_reason: TURN_LIMIT_REASON } }),
    ),
    subagent: limited(() => interrupt<TurnLimitStop, never>({ type: "turn-limit", text })),
  };
}

/** What the limit says of a thread that it stopped in a sub-agent. */
export function turnLimitText({ tasks }: StateSnapshot): string | undefined {
  const values: unknown[] = tasks.flatMap(({ interrupts }) =>
    interrupts.map(({ value }) => value as unknown),
  );
  return values.find(isTurnLimit)?.text;
}
