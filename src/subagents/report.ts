import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { BUDGET_REASON, isFinalAnswer } from "../middleware/plan/messages/final-answer.ts";
import { withoutThoughts } from "../models/thoughts.ts";
import { ZERO_TALLY, type Tally } from "../plan/index.ts";

/** What a sub-agent brings back. */
export interface Report {
  text: string;
  /** Its files at the end, when it has some. */
  files: Record<string, string> | undefined;
  /** Why its last words are no final answer, where they are not: it was cut off, filtered or stopped. */
  unfinished?: string;
  spent: Tally;
}

/** Reads a sub-agent's final state: a structured response as JSON, else its last words, wherever they stand. */
export function readReport(state: object): Report {
  const {
    messages = [],
    structuredResponse,
    files,
  } = state as {
    messages?: BaseMessage[];
    structuredResponse?: unknown;
    files?: Record<string, string>;
  };
  const end = messages.at(-1);
  const isCut = structuredResponse === undefined && AIMessage.isInstance(end) && !isFinalAnswer(end);
  const isOutOfBudget = end?.response_metadata["finish_reason"] === BUDGET_REASON;
  const said = isOutOfBudget ? messages.slice(0, -1) : messages;
  return {
    text: structuredResponse === undefined ? lastWords(said) : JSON.stringify(structuredResponse),
    files,
    ...(isCut && {
      unfinished: isOutOfBudget ? end.text.replace(/\.$/, "") : "it was stopped before it had finished",
    }),
    spent: messages.reduce(add, ZERO_TALLY),
  };
}

/** What was said last: some models give their report beside a last tool call, and then an empty message. */
function lastWords(messages: readonly BaseMessage[]): string {
  const texts = messages.flatMap((message) =>
    AIMessage.isInstance(message) ? withoutThoughts(message.text).trim() : [],
  );
  const said = texts.findLast((text) => text !== "");
  if (said === undefined) return "(The sub-agent finished without a word: there is no report.)";
  return texts.at(-1) === "" ? `${said}\n\n(Its last message was empty; it said this before.)` : said;
}

function add(tally: Tally, message: BaseMessage): Tally {
  if (!AIMessage.isInstance(message)) return tally;
  const { input_tokens = 0, output_tokens = 0 } = message.usage_metadata ?? {};
  return {
    modelCalls: tally.modelCalls + 1,
    toolCalls: tally.toolCalls + (message.tool_calls?.length ?? 0),
    inputTokens: tally.inputTokens + input_tokens,
    outputTokens: tally.outputTokens + output_tokens,
  };
}
