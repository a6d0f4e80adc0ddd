import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { markOf } from "../../marks.ts";
import { withoutThoughts } from "../../models/index.ts";
import { isFinalAnswer, asksBack } from "../plan/index.ts";
import { markUnsaid } from "../prices/index.ts";
import { isFromUser, reminderMessage } from "../text/index.ts";
import { EMPTY_ANSWER, MISSED_CALL } from "./empty-answers.prompt.ts";

/**
 * Calls the model again if its answer is empty, only announces work, or has a tool call as text: each would end the run
 * with nothing done. Adds no graph step and no message to the thread. Belongs inside the plan's middleware, which must
 * not see such an answer: it could complete an item or send a reminder.
 */
export function emptyAnswersMiddleware() {
  return createMiddleware({
    name: "EmptyAnswersMiddleware",
    wrapModelCall: async (request, handler) => {
      const answer = await handler(request);
      if (isExitReminder(request.messages.at(-1)) || !AIMessage.isInstance(answer)) return answer;
      const again = async (...more: BaseMessage[]) => {
        const next = await handler({ ...request, messages: [...request.messages, ...more] });
        if (AIMessage.isInstance(next)) markUnsaid(next, answer);
        return next;
      };
      if (isEmpty(answer)) return again(reminderMessage(REMINDER, EMPTY_ANSWER));
      const missed = isFinalAnswer(answer)
        ? missedCall(withoutThoughts(answer.text), {
            messages: request.state.messages,
            tools: request.tools.flatMap(({ name }) => (typeof name === "string" ? name : [])),
          })
        : undefined;
      return missed ? again(answer, reminderMessage(REMINDER, MISSED_CALL[missed])) : answer;
    },
  });
}

/** Recognizes the reminder with which the plan has just called the model again, and may do so once more. */
function isExitReminder(message: BaseMessage | undefined): boolean {
  return markOf(message, "holdfast_reminder") === "exit";
}

/** Whether a final answer has no content. Thoughts do not count; a refusal, an image or speech does. */
function isEmpty(message: AIMessage): boolean {
  const { content, additional_kwargs: raw } = message;
  if (!isFinalAnswer(message) || OTHER_ANSWERS.some((key) => Boolean(raw[key]))) return false;
  return typeof content === "string" ? withoutThoughts(content).trim() === "" : content.every(isSilent);
}

/** Fields in which clients put answers that are not text. */
const OTHER_ANSWERS = ["refusal", "audio", "tool_outputs"];
const THOUGHTS = ["thinking", "redacted_thinking", "reasoning", "reasoning_content"];

function isSilent(block: { type?: unknown; text?: unknown }): boolean {
  if (block.type === "text")
    return typeof block.text !== "string" || withoutThoughts(block.text).trim() === "";
  return THOUGHTS.includes(String(block.type));
}

const REMINDER = "empty_answer_reminder";

/** The most characters of an announcement: a longer text is an answer, whatever it ends with. */
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
 * Why an answer should have been a tool call: its text contains one, or only announces work, and no tool was called
 * since the user's message.
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
