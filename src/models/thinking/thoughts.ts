const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * Removes the thinking that local models put before their answer: `<think>…</think>`, everything if it was never
 * closed, and text up to a `</think>` without an opening tag. Tags later in the text, and in code, stay. For display
 * only: messages keep the model's text.
 */
export function withoutThoughts(text: string): string {
  const end = text.trimStart().startsWith(OPEN) ? 0 : unopenedEnd(text);
  if (end === undefined) return text;
  const rest = afterBlocks(text.slice(end).trimStart());
  return rest.startsWith(OPEN) ? "" : rest;
}

/** The visible part of a piece of text. */
export interface Shown {
  text: string;
  /** True if everything before was thinking, and the answer starts with this piece. */
  anew: boolean;
}

/** The same for a stream: returns a function that takes the next piece and returns its visible part. */
export function thoughtFilter(): (piece: string) => Shown {
  /** Text that may still be thinking; undefined once the answer has started. */
  let buffer: string | undefined = "";
  /** The answer, while a `</think>` without an opening tag may still follow. */
  let answer: string | undefined = "";
  const showAnswer = (piece: string): Shown => {
    if (answer === undefined) return { text: piece, anew: false };
    const anew = answer !== "";
    answer += piece;
    const end = answer.includes(CLOSE) ? unopenedEnd(answer) : undefined;
    // Only the text after the tag shows whether it closed thinking.
    const rest = end === undefined ? "" : answer.slice(end).trimStart();
    if (rest === "") return { text: piece, anew: false };
    answer = undefined;
    return { text: rest, anew };
  };
  return (piece) => {
    if (buffer === undefined) return showAnswer(piece);
    buffer = afterBlocks(buffer + piece);
    const start = buffer.trimStart();
    if (start.startsWith(OPEN)) {
      // Keeps only the end of an open block, which may be a partial closing tag.
      buffer = OPEN + start.slice(OPEN.length).slice(1 - CLOSE.length);
      return NOTHING;
    }
    if (OPEN.startsWith(start)) return NOTHING;
    const text = buffer;
    buffer = undefined;
    return showAnswer(text);
  };
}

const NOTHING: Shown = { text: "", anew: false };

/** The text after the closed blocks at the beginning. */
function afterBlocks(text: string): string {
  const end = text.trimStart().startsWith(OPEN) ? text.indexOf(CLOSE) : -1;
  return end < 0 ? text : afterBlocks(text.slice(end + CLOSE.length).trimStart());
}

/**
 * The end of thinking without an opening tag: a closing tag on its own line, at the end of a line, or directly before
 * the answer. In a text about the tag, it is in quotes or code, or followed by a space.
 */
function unopenedEnd(text: string): number | undefined {
  const match =
    /(?<=^|\n)[ \t]*<\/think>[ \t]*(?=\r?\n|$)|(?<!`)<\/think>[ \t]*(?=\r?\n)|(?<![`"'“‘(])<\/think>(?=[\p{L}\p{N}#*[|])/u.exec(
      text,
    );
  if (!match) return undefined;
  const before = text.slice(0, match.index);
  return before.includes(OPEN) || isInCode(before) ? undefined : match.index + match[0].length;
}

/** Whether a text ends inside of a code block or of inline code. */
function isInCode(before: string): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return before.split("```").length % 2 === 0 || line.split("`").length % 2 === 0;
}

/** All thoughts of an answer: outside of its text, or at its start as local models write them. */
export function allThoughts(message: Thinking & { text: string }): string {
  const text = typeof message.content === "string" ? message.content : message.text;
  const before = text.slice(0, text.length - withoutThoughts(text).length);
  return (thoughtsOf(message) || before.replaceAll(OPEN, "").replaceAll(CLOSE, "")).trim();
}

/** The parts of an answer, or of a piece of it, that may contain thoughts. */
interface Thinking {
  content?: unknown;
  contentBlocks?: readonly object[];
  additional_kwargs?: Record<string, unknown>;
}

/**
 * The thoughts of an answer or a piece of it: in content blocks, in LangChain's form or the provider's, or in
 * `reasoning_content` of servers with OpenAI's protocol.
 */
export function thoughtsOf(message: Thinking): string {
  const { content, additional_kwargs: extra = {} } = message;
  // LangChain computes `contentBlocks` at each access.
  if (typeof content === "string" && Object.keys(extra).length === 0) return "";
  const { contentBlocks = [] } = message;
  const blocks = contentBlocks.map((block) => {
    const { type, reasoning, thinking } = block as { type: string; reasoning?: unknown; thinking?: unknown };
    if (type === "reasoning") return typeof reasoning === "string" ? reasoning : "";
    if (type !== "thinking") return "";
    const parts = Array.isArray(thinking) ? (thinking as { text?: string }[]) : [{ text: String(thinking) }];
    return parts.map(({ text = "" }) => text).join("");
  });
  const { reasoning_content: thoughts } = extra;
  return blocks.join("") || (typeof thoughts === "string" ? thoughts : "");
}
