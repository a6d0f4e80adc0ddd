import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { BUDGET_REASON } from "../middleware/plan/index.ts";
import { isFromUser } from "../middleware/text/index.ts";
import { withoutThoughts } from "../models/index.ts";
import { PLAN_TOOLS } from "../plan/presets/index.ts";

/**
 * The answer of an agent's turn: its last message, and those before it that are more than twice as long, back to the last
 * tool call that is not about the plan. Some models write their report next to their last plan calls, or are called back
 * after it, and end with a courtesy. A message that calls tools or says that a limit was reached stands alone.
 */
export function wholeAnswer(messages: readonly BaseMessage[]): string {
  const all = messages.slice(0, messages.findLastIndex((message) => AIMessage.isInstance(message)) + 1);
  const answers = all
    .slice(all.findLastIndex(isFromUser) + 1)
    .filter((message) => AIMessage.isInstance(message));
  const last = answers.at(-1);
  if (!last) return "";
  const words = wordsOf(last);
  if (last.tool_calls?.length || isLimit(last)) return words;
  const before = answers.slice(0, -1);
  const said = textsOf(before.slice(before.findLastIndex(isWorkOrLimit) + 1)).filter((text) => text !== "");
  const final = words || (said.pop() ?? "");
  return [...said.filter(({ length }) => length > 2 * final.length), final].join("\n\n");
}

/** True for a message that calls a tool that is not about the plan, or says that a limit was reached. */
function isWorkOrLimit(message: AIMessage): boolean {
  return isLimit(message) || (message.tool_calls ?? []).some(({ name }) => !PLAN_TOOLS.has(name));
}

function isLimit({ response_metadata: { finish_reason: reason } }: AIMessage): boolean {
  return reason === BUDGET_REASON;
}

/** The texts of a model's messages, without its thoughts. */
export function textsOf(messages: readonly BaseMessage[]): string[] {
  return messages.filter((message) => AIMessage.isInstance(message)).map(wordsOf);
}

function wordsOf(message: AIMessage): string {
  return withoutThoughts(message.text).trim();
}
