import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { BUDGET_REASON } from "../middleware/plan/index.ts";
import { isFromUser } from "../middleware/text/index.ts";
import { withoutThoughts } from "../models/index.ts";
import { PLAN_TOOLS } from "../plan/presets/index.ts";

/**
 * What an agent says at the end of its turn: its last answer, and those before it that are more than twice as long, back
 * to the last tool call that is not about the plan. Some models write their report beside their last plan calls, or are
 * called back after it, and end with a courtesy.
 */
export function wholeAnswer(messages: readonly BaseMessage[]): string {
  const turn = messages.slice(messages.findLastIndex(isFromUser) + 1);
  const answers = turn.filter((message) => AIMessage.isInstance(message));
  const end = answers.findLastIndex((answer, at) => at < answers.length - 1 && isWorkOrLimit(answer));
  const said = textsOf(answers.slice(end + 1)).filter((text) => text !== "");
  const last = said.at(-1) ?? "";
  return [...said.slice(0, -1).filter(({ length }) => length > 2 * last.length), last].join("\n\n");
}

/** Whether a message calls a tool that is not about the plan, or says that a limit was reached. */
function isWorkOrLimit({
  tool_calls: calls = [],
  response_metadata: { finish_reason: reason },
}: AIMessage): boolean {
  return reason === BUDGET_REASON || (calls.length > 0 && !calls.some(({ name }) => PLAN_TOOLS.has(name)));
}

/** The texts of a model's messages, without its thoughts. */
export function textsOf(messages: readonly BaseMessage[]): string[] {
  return messages.flatMap((message) =>
    AIMessage.isInstance(message) ? withoutThoughts(message.text).trim() : [],
  );
}
