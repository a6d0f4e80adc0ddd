import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { sumTallies, tallyOf } from "../middleware/plan/ledger.ts";
import { BUDGET_REASON, isFinalAnswer } from "../middleware/plan/messages/final-answer.ts";
import { withoutThoughts } from "../models/thinking/thoughts.ts";
import { ZERO_TALLY, type Tally } from "../plan/index.ts";
import type { Given } from "./exchange.ts";

/** A sub-agent's report. */
export interface Report {
  text: string;
  /** Its state at the end. */
  after: Partial<Given>;
  /** Why its last words are no final answer, where they are not: it was cut off, filtered or stopped. */
  unfinished?: string;
  spent: Tally;
}

/** Facts about a sub-agent's end besides its state. */
export interface End {
  /** Why it was stopped, where the state is what it had come to. */
  stopped?: string | undefined;
  /** Its reported spending. Default: by its messages, which do not show answers that were sent back. */
  spent?: Tally | undefined;
}

/**
 * Reads a sub-agent's final state: a structured response as JSON, else its last words, wherever they stand. Messages
 * that it was given are not its own.
 */
export function readReport(state: object, given?: Given, { stopped, spent }: End = {}): Report {
  const { messages = [], structuredResponse } = state as Partial<Given>;
  const known = new Set(given?.messages.flatMap(({ id }) => id ?? []));
  const own = messages.filter(({ id }) => id === undefined || !known.has(id));
  const end = own.at(-1);
  const isCut = structuredResponse === undefined && AIMessage.isInstance(end) && !isFinalAnswer(end);
  const isOutOfBudget = end?.response_metadata["finish_reason"] === BUDGET_REASON;
  const said = isOutOfBudget ? own.slice(0, -1) : own;
  const cut = isOutOfBudget ? end.text.replace(/\.$/, "") : "it was stopped before it had finished";
  const unfinished = stopped ?? (isCut ? cut : undefined);
  const words = unfinished === undefined ? finalWords(said) : (lastWords(said) ?? lastResults(said));
  return {
    text: structuredResponse === undefined ? (words ?? NOTHING) : JSON.stringify(structuredResponse),
    after: state,
    ...(unfinished !== undefined && { unfinished }),
    spent: spent ?? own.reduce(add, ZERO_TALLY),
  };
}

const NOTHING = "(The sub-agent finished without a word: there is no report.)";

/** Some models give their report beside a last tool call, and then an empty message. */
function finalWords(messages: readonly BaseMessage[]): string | undefined {
  const said = lastWords(messages);
  const isEmpty = said !== undefined && textsOf(messages).at(-1) === "";
  return isEmpty ? `${said}\n\n(Its last message was empty; it said this before.)` : said;
}

function lastWords(messages: readonly BaseMessage[]): string | undefined {
  return textsOf(messages).findLast((text) => text !== "");
}

function textsOf(messages: readonly BaseMessage[]): string[] {
  return messages.flatMap((message) =>
    AIMessage.isInstance(message) ? withoutThoughts(message.text).trim() : [],
  );
}

const MOST_RESULTS = 3;

/** The last results of a sub-agent that has said nothing yet. */
function lastResults(messages: readonly BaseMessage[]): string | undefined {
  const results = messages.filter((message) => ToolMessage.isInstance(message)).slice(-MOST_RESULTS);
  if (results.length === 0) return undefined;
  const found = results.map(({ name = "tool", text }) => `${name}: ${text}`).join("\n\n");
  return `(It had said nothing yet. Its last tool results:)\n\n${found}`;
}

function add(tally: Tally, message: BaseMessage): Tally {
  if (!AIMessage.isInstance(message)) return tally;
  const toolCalls = message.tool_calls?.length ?? 0;
  return sumTallies(tally, { ...tallyOf(message), toolCalls });
}
