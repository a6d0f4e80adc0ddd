import type { Token, Tokens } from "marked";
import { shown, type Harmless } from "../output/index.ts";
import { blockRows, blocksOf, paragraphRows, type MarkdownOptions } from "./markdown.ts";

/** A longer paragraph is split, so that it is not parsed again as a whole with each word. */
const MAX_PARAGRAPH = 4000;

/**
 * Renders Markdown while it is being written, as final rows and rows that may still change. A row that was returned as
 * final never changes.
 */
export class MarkdownStream {
  /** Source that is not final: a block, from its beginning or from where it was cut. */
  #source = "";
  /** The opening line of the code block that the source continues. */
  #fence: string | undefined;
  /** Whether rows of the first block in the source have been returned. */
  #isBlockStarted = false;
  /** Whether any rows have been returned. */
  #hasRows = false;

  /** Adds text, and returns the rows that became final. */
  write(text: string, options: MarkdownOptions): Harmless[] {
    this.#source += text.replaceAll("\r\n", "\n");
    const whole = this.#whole;
    const blocks = blocksOf(whole);
    const at = blocks.findLastIndex(({ type }) => type !== "space");
    if (at < 0) return [];
    const rows = this.#take(blocks.slice(0, at), options);
    if (at > 0) this.#source = whole.slice(offsetOf(blocks, at, whole));
    return [...rows, ...this.#early(blocks[at]!, options)];
  }

  /** The rows that may still change. */
  tail(options: MarkdownOptions): Harmless[] {
    const block = blocksOf(this.#whole).find(({ type }) => type !== "space");
    return this.#spaced(block ? this.#rest(block, options) : []);
  }

  /** The remaining rows, at the end of the text. */
  end(options: MarkdownOptions): Harmless[] {
    const rows = this.#take(blocksOf(this.#whole), options);
    this.#source = "";
    this.#fence = undefined;
    this.#hasRows = false;
    return rows;
  }

  get #whole(): string {
    return this.#fence === undefined ? this.#source : `${this.#fence}\n${this.#source}`;
  }

  #take(blocks: readonly Token[], options: MarkdownOptions): Harmless[] {
    return blocks
      .filter(({ type }) => type !== "space")
      .flatMap((block) => {
        const rows = this.#spaced(this.#rest(block, options));
        this.#fence = undefined;
        this.#isBlockStarted = false;
        this.#hasRows = true;
        return rows;
      });
  }

  /** The rows of a block that have not been returned. */
  #rest(block: Token, options: MarkdownOptions): Harmless[] {
    const isDone = this.#fence !== undefined && block.type === "code" && block.text === "";
    return isDone ? [] : blockRows(block, options);
  }

  /** Adds an empty row between two blocks. */
  #spaced(rows: Harmless[]): Harmless[] {
    return this.#hasRows && !this.#isBlockStarted && rows.length > 0 ? [shown``, ...rows] : rows;
  }

  /** The final part of the open block: whole lines of code, all items but the last, most of a very long paragraph. */
  #early(block: Token, options: MarkdownOptions): Harmless[] {
    const cut =
      block.type === "code"
        ? this.#wholeLines()
        : block.type === "list"
          ? wholeItems(block as Tokens.List, this.#source)
          : block.type === "paragraph"
            ? longStart(block.raw, options)
            : undefined;
    if (!cut) return [];
    const rows = this.#spaced(cut.rows ?? blockRows(cut.block!, options));
    this.#source = this.#source.slice(cut.length);
    this.#isBlockStarted = true;
    this.#hasRows = true;
    return rows;
  }

  #wholeLines(): Cut | undefined {
    const fence = this.#fence ?? /^ {0,3}(?:`{3,}|~{3,})[^\n]*(?=\n)/.exec(this.#source)?.[0];
    if (fence === undefined) return undefined;
    const start = this.#fence === undefined ? fence.length + 1 : 0;
    const length = this.#source.lastIndexOf("\n") + 1;
    if (length <= start) return undefined;
    const text = this.#source.slice(start, length - 1);
    // A fence in the text may close the block, so the text is not final until another block follows.
    if (/^ {0,3}(?:```|~~~)/m.test(text)) return undefined;
    this.#fence = fence;
    const lang = fence.replace(/^ *[`~]+/, "").trim();
    return { block: { type: "code", raw: text, text, lang }, length };
  }
}

/** A part of the source that is final. */
interface Cut {
  block?: Tokens.Code | Tokens.List;
  rows?: Harmless[];
  length: number;
}

function wholeItems(list: Tokens.List, source: string): Cut | undefined {
  const last = list.items.length - 1;
  if (last < 1) return undefined;
  return { block: { ...list, items: list.items.slice(0, last) }, length: offsetOf(list.items, last, source) };
}

/** The position of a part in the source. The parser drops trailing spaces of some parts, and adds one to a checkbox. */
function offsetOf(parts: readonly { raw: string }[], at: number, source: string): number {
  const before = parts.slice(0, at).reduce((sum, { raw }) => sum + raw.length, 0);
  return Math.max(before, source.indexOf(parts[at]!.raw.trimEnd(), before));
}

/** The start of a paragraph that is too long, unless it may become a table. */
function longStart(raw: string, options: MarkdownOptions): Cut | undefined {
  if (raw.length <= MAX_PARAGRAPH || /^\s*\|/m.test(raw)) return undefined;
  const length =
    Math.max(raw.lastIndexOf(" ", MAX_PARAGRAPH), raw.lastIndexOf("\n", MAX_PARAGRAPH)) + 1 || MAX_PARAGRAPH;
  return { rows: paragraphRows(raw.slice(0, length), options), length };
}
