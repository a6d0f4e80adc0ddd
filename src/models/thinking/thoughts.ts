const OPEN = "<think>";
const CLOSE = "</think>";

/**
 * A model's text without the thinking that local models and their servers leave in front of it: `<think>…</think>`,
 * all of it when it was never closed, and what ends with a `</think>` whose opening was not sent. Tags further
 * behind, and in code, are what the text is about. For what people read: messages stay as the model sent them.
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
  /** Whether everything before was thinking, and the answer begins with this piece. */
  anew: boolean;
}

/** The same for a text that comes in pieces: takes the next one, and gives back what is to be shown of it. */
export function thoughtFilter(): (piece: string) => Shown {
  /** Text that may still be thinking; undefined once the answer has begun. */
  let held: string | undefined = "";
  /** The answer, as long as it may turn out to have been thinking whose opening was not sent. */
  let answer: string | undefined = "";
  const begun = (piece: string): Shown => {
    if (answer === undefined) return { text: piece, anew: false };
    const anew = answer !== "";
    answer += piece;
    const end = answer.includes(CLOSE) ? unopenedEnd(answer) : undefined;
    // What follows the tag tells whether it was one.
    const rest = end === undefined ? "" : answer.slice(end).trimStart();
    if (rest === "") return { text: piece, anew: false };
    answer = undefined;
    return { text: rest, anew };
  };
  return (piece) => {
    if (held === undefined) return begun(piece);
    held = afterBlocks(held + piece);
    const start = held.trimStart();
    if (start.startsWith(OPEN)) {
      // Of what is not closed yet only the beginning of the closing tag can matter.
      held = OPEN + start.slice(OPEN.length).slice(1 - CLOSE.length);
      return NOTHING;
    }
    if (OPEN.startsWith(start)) return NOTHING;
    const shown = held;
    held = undefined;
    return begun(shown);
  };
}

const NOTHING: Shown = { text: "", anew: false };

/** The text after the closed blocks at the beginning. */
function afterBlocks(text: string): string {
  const end = text.trimStart().startsWith(OPEN) ? text.indexOf(CLOSE) : -1;
  return end < 0 ? text : afterBlocks(text.slice(end + CLOSE.length).trimStart());
}

/**
 * Where thinking ends that was never opened: at a tag with a line of its own, at the end of one, or with the answer
 * right behind it. Who writes about the tag puts it in quotes or code, or goes on after a space.
 */
function unopenedEnd(text: string): number | undefined {
  const found =
    /(?<=^|\n)[ \t]*<\/think>[ \t]*(?=\r?\n|$)|(?<!`)<\/think>[ \t]*(?=\r?\n)|(?<![`"'“‘(])<\/think>(?=[\p{L}\p{N}#*[|])/u.exec(
      text,
    );
  if (!found) return undefined;
  const before = text.slice(0, found.index);
  return before.includes(OPEN) || isInCode(before) ? undefined : found.index + found[0].length;
}

/** Whether what follows a text stands in a block of code that it opens, or in code within its last line. */
function isInCode(before: string): boolean {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  return before.split("```").length % 2 === 0 || line.split("`").length % 2 === 0;
}

/** All thoughts of an answer: beside its text, or in front of it as local models write them. */
export function allThoughts(message: Thinking & { text: string }): string {
  const { text } = message;
  const before = text.slice(0, text.length - withoutThoughts(text).length);
  return (thoughtsOf(message) || before.replaceAll(OPEN, "").replaceAll(CLOSE, "")).trim();
}

/** An answer or a piece of one, as far as thoughts may stand in it. */
interface Thinking {
  content?: unknown;
  contentBlocks?: readonly object[];
  additional_kwargs?: Record<string, unknown>;
}

/**
 * The thoughts of an answer or a piece of it: in blocks of its content, in LangChain's words or the provider's, or beside
 * it where servers speak like OpenAI's.
 */
export function thoughtsOf(message: Thinking): string {
  const { content, additional_kwargs: beside = {} } = message;
  // Blocks are made anew at each look.
  if (typeof content === "string" && Object.keys(beside).length === 0) return "";
  const { contentBlocks = [] } = message;
  const blocks = contentBlocks.map((block) => {
    const { type, reasoning, thinking } = block as { type: string; reasoning?: unknown; thinking?: unknown };
    if (type === "reasoning") return typeof reasoning === "string" ? reasoning : "";
    if (type !== "thinking") return "";
    const parts = Array.isArray(thinking) ? (thinking as { text?: string }[]) : [{ text: String(thinking) }];
    return parts.map(({ text = "" }) => text).join("");
  });
  const { reasoning_content: thoughts } = beside;
  return blocks.join("") || (typeof thoughts === "string" ? thoughts : "");
}
