import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { lineCount } from "../../conversation-file.ts";
import { shownTags } from "../../text/control-tags.ts";
import { withoutRefusedTexts } from "../../tools/refused-texts.ts";
import { coveredBy, type ContextMemory, type Summary } from "../state.ts";
import { CONTEXT_FILE, CONTEXT_HEADING } from "../summary.prompt.ts";
import { withoutOldResults } from "./clear.ts";
import { filled, heldText, userWords } from "./user-words.ts";

export interface ComposeOptions {
  /** Where the file tools show the conversation. */
  file?: string | undefined;
}

/** A conversation as it goes into a request. */
export interface Composition {
  /** Stands for the messages that were summarized. */
  head: HumanMessage | undefined;
  /** The messages after them, without texts that were refused. */
  rest: readonly BaseMessage[];
  /** All of it, with old results left out. */
  messages: BaseMessage[];
}

/** Makes the messages of a request from those of a thread. The same thread and memory give the same messages. */
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

/** Held so long as the summary is: what it covers does not change. */
const heads = new WeakMap<Summary, { key: string; head: HumanMessage }>();

function headOf(summary: Summary, covered: readonly BaseMessage[], { file }: ComposeOptions): HumanMessage {
  const key = `${covered.length} ${file ?? ""}`;
  const known = heads.get(summary);
  if (known?.key === key) return known.head;
  const words = heldText(userWords(covered), { tokens: summary.words, file });
  const values = { file: file ?? "", lines: lineCount(covered), messages: covered.length };
  const content = [
    "<conversation_so_far>",
    CONTEXT_HEADING,
    `<user_words>\n${shownTags(words)}\n</user_words>`,
    `<summary>\n${shownTags(summary.text)}\n</summary>`,
    ...(file === undefined ? [] : [filled(CONTEXT_FILE, values)]),
    "</conversation_so_far>",
  ].join("\n");
  const head = new HumanMessage({
    content,
    id: `summary-${summary.upTo}`,
    additional_kwargs: { lc_source: "summarization" },
  });
  heads.set(summary, { key, head });
  return head;
}
