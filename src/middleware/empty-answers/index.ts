import { AIMessage, HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { withoutThoughts } from "../../models/thinking/thoughts.ts";
import { markUnsaid, usedTokens } from "../budget/prices.ts";
import { isFinalAnswer } from "../plan/messages/final-answer.ts";
import { missedCall } from "./announcement.ts";
import { EMPTY_ANSWER, MISSED_CALL } from "./empty-answers.prompt.ts";

/**
 * Asks once more where a model says nothing and calls nothing, only announces what it will do, or writes a call as text:
 * each would end the run with nothing done. Within the model's own graph step; the message is not kept. Stands inside the plan's middleware, so that an empty
 * answer completes no item and calls for no reminder before it was asked about.
 */
export function emptyAnswersMiddleware() {
  return createMiddleware({
    name: "EmptyAnswersMiddleware",
    wrapModelCall: async (request, handler) => {
      const answer = await handler(request);
      const isAsked = isExitReminder(request.messages.at(-1));
      if (isAsked || !AIMessage.isInstance(answer)) return answer;
      const again = async (...more: BaseMessage[]) => {
        const next = await handler({ ...request, messages: [...request.messages, ...more] });
        if (AIMessage.isInstance(next)) markUnsaid(next, usedTokens(answer));
        return next;
      };
      if (isEmpty(answer)) return again(reminder(EMPTY_ANSWER));
      const missed = isFinalAnswer(answer)
        ? missedCall(withoutThoughts(answer.text), {
            messages: request.state.messages,
            tools: request.tools.flatMap(({ name }) => (typeof name === "string" ? name : [])),
          })
        : undefined;
      return missed ? again(answer, reminder(MISSED_CALL[missed])) : answer;
    },
  });
}

/** The plan has just called the model back: that is question enough, and it may come again. */
function isExitReminder(message: BaseMessage | undefined): boolean {
  return message?.name === "todo_completion_reminder";
}

/** Whether a message ends a run without a word. Thoughts are none; a refusal, an image or speech is more than one. */
function isEmpty(message: AIMessage): boolean {
  const { content, additional_kwargs: raw } = message;
  if (!isFinalAnswer(message) || OTHER_ANSWERS.some((key) => Boolean(raw[key]))) return false;
  return typeof content === "string" ? withoutThoughts(content).trim() === "" : content.every(isSilent);
}

/** Where clients put answers that are no text. */
const OTHER_ANSWERS = ["refusal", "audio", "tool_outputs"];
const THOUGHTS = ["thinking", "redacted_thinking", "reasoning", "reasoning_content"];

function isSilent(block: { type?: unknown; text?: unknown }): boolean {
  if (block.type === "text")
    return typeof block.text !== "string" || withoutThoughts(block.text).trim() === "";
  return THOUGHTS.includes(String(block.type));
}

function reminder(text: string): HumanMessage {
  return new HumanMessage({
    content: `<system_reminder>${text}</system_reminder>`,
    name: "empty_answer_reminder",
    additional_kwargs: { hide_from_ui: true },
  });
}
