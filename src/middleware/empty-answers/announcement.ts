import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { asksBack } from "../plan/messages/final-answer.ts";
import { isFromUser } from "../text/from-user.ts";

/** A longer text is an answer, whatever it ends with. */
const LONGEST = 600;

const WORK =
  "read|look|check|inspect|open|list|search|find|explore|examine|review|run|start|begin|create|write|see|scan|analy[sz]e|investigate|gather|fetch|go|use|call|make|get|take|plan|set up|work|implement|fix|test|add|update|edit";
const INTENT = new RegExp(
  String.raw`(?:^|[.!:]\s+|\n)(?:sure|ok(?:ay)?|great|alright|certainly|first|now|then)?[,.!]?\s*(?:(?:let me|let's|i'll|i’ll|i will|i'm going to|i am going to)\s+)(?:first\s+|now\s+|quickly\s+|start by\s+|begin by\s+)*(?:${WORK})\w*(?:[^.!?\n]|[.!?](?=\S))*[.:…!]*\s*$`,
  "i",
);

const CALL_TAGS = /<(?:tool_call|function_call|function=|invoke\b|tool_use)/i;

/** Tells whether a text contains a call of one of these tools. */
function hasCall(text: string, tools: readonly string[]): boolean {
  const [, name] = /"(?:name|tool|function)"\s*:\s*"([\w-]+)"/.exec(text) ?? [];
  if (name !== undefined && tools.includes(name)) return true;
  return CALL_TAGS.test(text) && tools.some((tool) => text.includes(tool));
}

/**
 * Why an answer should have been a tool call: it has one in its text, or only says what will be done while nothing has
 * been done since the user's message.
 */
export function missedCall(
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
