import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { isFinalAnswer } from "../middleware/plan/messages/final-answer.ts";
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

/** Reads a sub-agent's final state: a structured response as JSON, else its last words. */
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
  const last = messages.findLast((message) => AIMessage.isInstance(message));
  const end = messages.at(-1);
  const isCut = structuredResponse === undefined && AIMessage.isInstance(end) && !isFinalAnswer(end);
  const said = withoutThoughts(last?.text ?? "").trim() || "(The sub-agent finished without a report.)";
  return {
    text: structuredResponse === undefined ? said : JSON.stringify(structuredResponse),
    files,
    ...(isCut && { unfinished: "it was stopped before it had finished" }),
    spent: messages.reduce(add, ZERO_TALLY),
  };
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
