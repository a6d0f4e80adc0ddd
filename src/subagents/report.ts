import { AIMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { attempt } from "../errors.ts";
import { metadataOf } from "../marks.ts";
import { sumTallies, tallyOf, BUDGET_REASON, isFinalAnswer } from "../middleware/plan/index.ts";
import { unsaidTokens } from "../middleware/prices/index.ts";
import { shortened } from "../middleware/text/index.ts";
import { isClosed, type Todo } from "../plan/index.ts";
import { ZERO_TALLY, type Tally } from "../plan/todo/index.ts";
import type { StartState } from "./exchange.ts";
import { textsOf, wholeAnswer } from "./whole-answer.ts";

/** A sub-agent's report. */
export interface Report {
  text: string;
  /** Its state at the end. */
  after: Partial<StartState>;
  verdict: Verdict;
  spent: Tally;
}

/** The judgement of a sub-agent's work by its end, its own plan and its report. */
export interface Verdict {
  result: "done" | "part" | "failed";
  /** What is missing, or the cause of a failure; for work that is done, the items without evidence. */
  reason?: string;
}

/** Facts about a sub-agent's end that are not in its state. */
export interface End {
  /** Why it was stopped, if it was. */
  stopped?: string;
  /** Its spending. Default: computed from its messages, which lack answers that were returned to the model. */
  spent?: Tally;
}

/**
 * Reads the report from a sub-agent's state: a structured response as JSON, else its last words. Messages of its initial
 * state do not count.
 */
export function readReport(state: object, start?: StartState, { stopped, spent }: End = {}): Report {
  const { messages = [], structuredResponse, todos } = state as Partial<StartState> & { todos?: Todo[] };
  const startIds = new Set(start?.messages.flatMap(({ id }) => id ?? []));
  const transcript = messages.filter(({ id }) => id === undefined || !startIds.has(id));
  const end = transcript.at(-1);
  const isCut = structuredResponse === undefined && AIMessage.isInstance(end) && !isFinalAnswer(end);
  const isOutOfBudget = metadataOf(end)["finish_reason"] === BUDGET_REASON;
  const cause = end && isOutOfBudget ? end.text.replace(/\.$/, "") : "it was stopped before it had finished";
  const unfinished = stopped ?? (isCut ? cause : undefined);
  // The message about the budget is not part of the report.
  const answers = isOutOfBudget ? transcript.slice(0, -1) : transcript;
  const words = unfinished === undefined ? finalWords(answers) : (lastWords(answers) ?? lastResults(answers));
  const text = structuredResponse === undefined ? (words ?? "") : JSON.stringify(structuredResponse);
  const isEarlier = structuredResponse === undefined && unfinished === undefined && endsSilently(answers);
  const verdict = verdictOn(text, unfinished, Array.isArray(todos) ? todos : []);
  return {
    text,
    after: state,
    // A program may read a report in JSON, which is whole by its form.
    verdict: isEarlier && !isJson(text) ? withReason(verdict, EARLIER) : verdict,
    spent: spent ?? transcript.reduce(add, ZERO_TALLY),
  };
}

function verdictOn(text: string, unfinished: string | undefined, todos: readonly Todo[]): Verdict {
  const left = todos.filter((todo) => !isClosed(todo));
  const open =
    left.length > 0 ? `${left.length} of ${todos.length} items of its plan are open: ${namesOf(left)}` : "";
  if (unfinished !== undefined)
    return { result: "part", reason: open ? `${unfinished}; ${open}` : unfinished };
  // No letter or digit, only punctuation at most.
  if (!/[\p{L}\p{N}]/u.test(text)) return { result: "failed", reason: "there is no report" };
  if (open) return { result: "part", reason: open };
  const unproven = todos.filter(({ unverified }) => unverified);
  return unproven.length > 0
    ? { result: "done", reason: `without evidence: ${namesOf(unproven)}` }
    : { result: "done" };
}

const MOST_NAMES = 5;

function namesOf(todos: readonly Todo[]): string {
  const names = todos.slice(0, MOST_NAMES).map(({ content }) => shortened(content, 60));
  return `${names.join("; ")}${todos.length > MOST_NAMES ? "; …" : ""}`;
}

const LABELS = { done: "Done", part: "In part", failed: "Failed" };

/** The line after a report; empty if all is well. `more`: sentences about its plan item. */
export function verdictLine(
  { result, reason }: Verdict,
  { id, more = "" }: { id?: string; more?: string } = {},
): string {
  if (result === "done" && reason === undefined && more === "") return "";
  const cause = reason === undefined ? "" : `: ${reason.replace(/\.$/, "")}`;
  return `[${LABELS[result]}${cause}.${more && ` ${more}`}]${id === undefined ? "" : ` ${id}`}`;
}

const EARLIER = "its last message was empty, and it wrote this before";

function withReason({ result, reason }: Verdict, more: string): Verdict {
  return { result, reason: reason === undefined ? more : `${more}; ${reason}` };
}

/** The answer at the end. Some models write their report next to a tool call and end with an empty message. */
function finalWords(messages: readonly BaseMessage[]): string | undefined {
  const last = lastWords(messages);
  return last === undefined || endsSilently(messages) ? last : wholeAnswer(messages);
}

/** Whether a model has written something, and then an empty last message. */
function endsSilently(messages: readonly BaseMessage[]): boolean {
  return lastWords(messages) !== undefined && textsOf(messages).at(-1) === "";
}

function isJson(text: string): boolean {
  return attempt((): unknown => JSON.parse(text)) !== undefined;
}

function lastWords(messages: readonly BaseMessage[]): string | undefined {
  return textsOf(messages).findLast((text) => text !== "");
}

const MOST_RESULTS = 3;

/** The last tool results of a sub-agent that has written nothing yet. */
function lastResults(messages: readonly BaseMessage[]): string | undefined {
  const results = messages.filter((message) => ToolMessage.isInstance(message)).slice(-MOST_RESULTS);
  if (results.length === 0) return undefined;
  const texts = results.map(({ name = "tool", text }) => `${name}: ${text}`);
  return ["(It had said nothing yet. Its last tool results:)", ...texts].join("\n\n");
}

function add(tally: Tally, message: BaseMessage): Tally {
  if (!AIMessage.isInstance(message)) return tally;
  const toolCalls = message.tool_calls?.length ?? 0;
  const unsaid = unsaidTokens(message);
  const all = unsaid ? sumTallies(tally, { ...ZERO_TALLY, modelCalls: 1, ...unsaid }) : tally;
  return sumTallies(all, { ...tallyOf(message), toolCalls });
}
