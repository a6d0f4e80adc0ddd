import { HumanMessage, type BaseMessage, AIMessage, ToolMessage } from "@langchain/core/messages";
import { marks } from "../../../marks.ts";
import { PLAN_TOOLS } from "../../../plan/presets/index.ts";
import { foreign } from "../../../plan/render/index.ts";
import { coveredBy, type ContextMemory, type Summary } from "../../context-memory/index.ts";
import { lineCount } from "../../conversation-file/index.ts";
import { filled, userWordsIn } from "../../text/index.ts";
import { copyOf, withoutRefusedTexts, withNotes } from "../../tools/index.ts";
import {
  CLEARED_TEXTS,
  CONTEXT_COMMANDS,
  CONTEXT_FILE,
  CONTEXT_HEADING,
  CONTEXT_SEARCH,
} from "../summary.prompt.ts";
import { userWords, wordsText } from "./user-words.ts";

interface ComposeOptions {
  /** The path of the conversation file, if the agent can read it. */
  file?: string;
  /** The names of the agent's tools. */
  tools?: readonly string[];
}

/** A conversation as it goes into a request. */
export interface Composition {
  /** The message in place of those that were summarized. */
  head: HumanMessage | undefined;
  /** The messages after them, without refused texts. */
  rest: readonly BaseMessage[];
  /** `head` and `rest`, with old results left out. */
  messages: BaseMessage[];
}

/** Builds the messages of a request from those of a thread. The same thread and memory give the same messages. */
export function compose(
  messages: readonly BaseMessage[],
  memory: ContextMemory,
  options: ComposeOptions = {},
): Composition {
  const covered = coveredBy(memory.summary, messages);
  const head = covered > 0 ? headOf(memory.summary!, messages.slice(0, covered), options) : undefined;
  const rest = withoutRefusedTexts(covered > 0 ? messages.slice(covered) : messages);
  const sent = withoutOldResults(rest, memory.cleared);
  return { head, rest, messages: head ? [head, ...sent] : sent };
}

/** Tools that run commands. */
const COMMANDS = new Set(["execute", "bash"]);

/** Head messages by summary: what a summary covers does not change. */
const heads = new WeakMap<Summary, { key: string; head: HumanMessage }>();

function headOf(
  summary: Summary,
  covered: readonly BaseMessage[],
  { file, tools = [] }: ComposeOptions,
): HumanMessage {
  const search = tools.includes("grep") ? CONTEXT_SEARCH : "";
  const commands = tools.some((name) => COMMANDS.has(name)) ? CONTEXT_COMMANDS : "";
  const key = `${covered.length} ${search}${commands}${file ?? ""}`;
  const cached = heads.get(summary);
  if (cached?.key === key) return cached.head;
  const words = wordsText(userWords(covered), { tokens: summary.words, file });
  const values = { file: file ?? "", lines: lineCount(covered), messages: covered.length, search, commands };
  const content = [
    "<conversation_so_far>",
    CONTEXT_HEADING,
    `<user_words>\n${words}\n</user_words>`,
    `<summary>\n${foreign(summary.text)}\n</summary>`,
    ...(file === undefined ? [] : [filled(CONTEXT_FILE, values)]),
    "</conversation_so_far>",
  ].join("\n");
  const head = new HumanMessage({
    content,
    id: `summary-${summary.upTo}`,
    additional_kwargs: marks({ lc_source: "summarization" }),
  });
  heads.set(summary, { key, head });
  return head;
}

/** Tools whose results can be fetched again by the same call. */
const READING = new Set(["read_file", "ls", "glob", "grep"]);
/** Tools whose calls contain the whole plan. */
const REPLACING = new Set(["write_todos", "todo"]);

/** Shorter results are not replaced by a line. */
const SHORTEST = 600;

const copies = new WeakMap<ToolMessage, ToolMessage>();

/**
 * Replaces by a line each long result that can be fetched again, and each long plan that a later write has replaced, in
 * the messages up to and including `upTo`. The model's other texts and users' words stay. The same messages give the
 * same lines.
 */
function withoutOldResults(messages: readonly BaseMessage[], upTo: string | undefined): BaseMessage[] {
  const end = upTo === undefined ? -1 : messages.findLastIndex(({ id }) => id === upTo);
  if (end < 0) return [...messages];
  const lastPlan = messages.findLastIndex(({ name = "" }) => PLAN_TOOLS.has(name));
  const lastWrite = messages.findLastIndex(isPlanWrite);
  const replaced = messages.slice(0, Math.max(0, Math.min(end + 1, lastWrite))).filter(isPlanWrite);
  const ids = replaced.map(({ tool_call_id }) => tool_call_id);
  return messages.map((message, at) => {
    if (at > end) return message;
    if (AIMessage.isInstance(message)) return withoutPlans(message, ids);
    return at !== lastPlan && ToolMessage.isInstance(message) ? clearResult(message) : message;
  });
}

function isPlanWrite(message: BaseMessage): message is ToolMessage {
  return (
    message.type === "tool" &&
    REPLACING.has(message.name ?? "") &&
    (message as ToolMessage).status !== "error"
  );
}

function withoutPlans(message: AIMessage, replaced: readonly string[]): AIMessage {
  const ids = (message.tool_calls ?? []).flatMap(({ id = "" }) => (replaced.includes(id) ? [id] : []));
  return ids.length > 0 ? withNotes(message, ids, CLEARED_TEXTS.plan) : message;
}

function clearResult(message: ToolMessage): ToolMessage {
  const cached = copies.get(message);
  if (cached) return cached;
  const line = message.text.length < SHORTEST ? undefined : lineFor(message);
  if (line === undefined || userWordsIn(message) !== undefined) return message;
  // The artifact goes, too: an image in it would still be sent.
  const copy = copyOf(message, { content: line, artifact: undefined });
  copies.set(message, copy);
  return copy;
}

function lineFor({ name = "", text }: ToolMessage): string | undefined {
  const count = text.length;
  const saved = SAVED.exec(text)?.[1];
  if (saved !== undefined) return filled(CLEARED_TEXTS.saved, { count, file: saved });
  if (READING.has(name)) return filled(CLEARED_TEXTS.read, { count });
  return PLAN_TOOLS.has(name) ? CLEARED_TEXTS.plan : undefined;
}

/** Matches the line with the saved file in a preview of a long result, see `preview`. */
const SAVED = /characters left out\. The full text is in "([^"\n]+)"\.\]/;
