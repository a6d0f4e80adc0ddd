import type { BaseMessage, ToolMessage } from "@langchain/core/messages";
import { headAndTail } from "../../../files/text/index.ts";
import { foreign } from "../../../plan/render/index.ts";
import { lineCount, textOf } from "../../conversation-file/index.ts";
import { filled, isFromUser, userWordsIn, shortened } from "../../text/index.ts";
import { turnOf } from "../../tools/index.ts";
import { WORDS_CUT, WORDS_LEFT_OUT } from "../summary.prompt.ts";

/** The user's words in one message. */
interface UserWords {
  text: string;
  /** The question that they answer, if any. */
  about?: string;
  /** The first and the last line of the message in the conversation file. */
  lines: readonly [number, number];
}

/** Users' words in messages, oldest first. */
export function userWords(messages: readonly BaseMessage[]): UserWords[] {
  const words: UserWords[] = [];
  let line = 1;
  for (const [at, message] of messages.entries()) {
    const length = lineCount([message]);
    const lines = [line, line + length - 1] as const;
    line += length;
    if (isFromUser(message)) words.push({ text: textOf(message), lines });
    const text = userWordsIn(message);
    if (text !== undefined) {
      const about = questionOf(message, messages.slice(0, at));
      words.push({ text, lines, ...(about !== undefined && { about }) });
    }
  }
  return words;
}

/** The question that an answer belongs to. */
function questionOf(message: BaseMessage, before: readonly BaseMessage[]): string | undefined {
  if (message.type !== "tool") return undefined;
  const { tool_call_id: id } = message as ToolMessage;
  const question: unknown = turnOf(before, id)?.tool_calls?.find((call) => call.id === id)?.args["question"];
  return typeof question === "string" ? shortened(question, LONGEST_QUESTION) : undefined;
}

const LONGEST_QUESTION = 300;
const CHARACTERS_PER_TOKEN = 4;
/** The least characters of a cut message: shorter pieces are useless. */
const SHORTEST_PIECE = 400;

/**
 * The words that fit into a number of tokens, as text in their order. The newest have priority, then the first, then the
 * others from new to old. Long ones are cut to their head and tail. Notes say which lines of the file have the rest.
 */
export function wordsText(
  words: readonly UserWords[],
  { tokens, file }: { tokens: number; file: string | undefined },
): string {
  const most = tokens * CHARACTERS_PER_TOKEN;
  const isShort = words.reduce((sum, { text }) => sum + text.length, 0) <= most;
  const order = [...words.keys()].toReversed();
  if (order.length > 2) order.splice(1, 0, order.pop()!);
  const texts = new Map<number, string>();
  let left = most;
  for (const at of order) {
    const text = fitWords(words[at]!, isShort ? most : Math.min(left, most / 4), file);
    if (text === undefined) continue;
    texts.set(at, text);
    left -= text.length;
  }
  // Texts that were cut get the room that short ones left.
  for (const at of order.filter((one) => texts.has(one) && texts.get(one) !== words[one]!.text)) {
    const text = fitWords(words[at]!, texts.get(at)!.length + left, file) ?? texts.get(at)!;
    left -= text.length - texts.get(at)!.length;
    texts.set(at, text);
  }
  const parts: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const start = at;
    while (at < words.length && !texts.has(at)) at += 1;
    if (at > start) parts.push(omissionNote(words.slice(start, at), file));
    const text = texts.get(at);
    if (text !== undefined) parts.push(`<said${aboutText(words[at]!)}>\n${foreign(text)}\n</said>`);
  }
  return parts.join("\n");
}

function aboutText({ about }: UserWords): string {
  return about === undefined ? "" : ` in_answer_to=${foreign(JSON.stringify(about))}`;
}

/** The words, or their head and tail within `most` characters; undefined if that is too little. */
function fitWords({ text, lines }: UserWords, most: number, file: string | undefined): string | undefined {
  if (text.length <= most) return text;
  if (most < SHORTEST_PIECE) return undefined;
  const { head, tail } = headAndTail(text, most);
  const missing = text.length - head.length - tail.length;
  return [head, filled(WORDS_CUT, { missing, where: whereText(lines, file) }), tail].join("\n");
}

function omissionNote(words: readonly UserWords[], file: string | undefined): string {
  const lines = [words[0]!.lines[0], words.at(-1)!.lines[1]] as const;
  return filled(WORDS_LEFT_OUT, { count: words.length, where: whereText(lines, file) });
}

function whereText([first, last]: readonly [number, number], file: string | undefined): string {
  return file === undefined ? "" : `: lines ${first} to ${last} of ${file}`;
}
