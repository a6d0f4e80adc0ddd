import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { withoutThoughts } from "../../models/index.ts";
import { isFinalAnswer, asksBack } from "../plan/index.ts";
import { markUnsaid, usedTokens } from "../prices/index.ts";
import { isFromUser, hiddenMessage } from "../text/index.ts";
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

function reminder(text: string): BaseMessage {
  return hiddenMessage({
    name: "empty_answer_reminder",
    text: `<system_reminder>${text}</system_reminder>`,
  });
}

/** A longer text is an answer, whatever it ends with. */
const LONGEST = 600;

const WORK =
  "read|look|check|inspect|open|list|search|find|explore|examine|review|run|start|begin|create|write|see|scan|analy[sz]e|investigate|gather|fetch|go|use|call|make|get|take|plan|set up|work|implement|fix|test|add|update|edit";
const INTENT = new RegExp(
  String.raw`(?:^|[.!:]\s+|\n)(?:sure|ok(?:ay)?|great|alright|certainly|first|now|then)?[,.!]?\s*(?:(?:let me|let's|i'll|i’ll|i will|i'm going to|i am going to)\s+)(?:first\s+|now\s+|quickly\s+|start by\s+|begin by\s+)*(?:${WORK})\w*(?:[^.!?\n]|[.!?](?=\S))*[.:…!]*\s*$`,
  "i",
);

const CALL_TAGS = /<(?:tool_call|function_call|function=|invoke\b|tool_use)/i;

function hasCall(text: string, tools: readonly string[]): boolean {
  const [, name] = /"(?:name|tool|function)"\s*:\s*"([\w-]+)"/.exec(text) ?? [];
  if (name !== undefined && tools.includes(name)) return true;
  return CALL_TAGS.test(text) && tools.some((tool) => text.includes(tool));
}

/**
 * Why an answer should have been a tool call: it has one in its text, or only says what will be done while nothing has
 * been done since the user's message.
 */
function missedCall(
  text: string,
  { messages, tools }: { messages: readonly BaseMessage[]; tools: readonly string[] },
): "written" | "announced" | undefined {
  if (tools.length === 0) return undefined;
  if (hasCall(text, tools)) return "written";
  const run = messages.slice(messages.findLastIndex(isFromUser) + 1);
  const hasActed = run.some(
    (message) => AIMessage.isInstance(message) && (message.tool_calls ?? []).length > 0,
  );
  const isShort = text.length <= LONGEST && !asksBack(text);
  return !hasActed && isShort && INTENT.test(text.trim()) ? "announced" : undefined;
}
