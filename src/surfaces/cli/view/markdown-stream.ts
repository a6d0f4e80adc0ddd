import type { Token, Tokens } from "marked";
import { shown, type Harmless } from "../output/index.ts";
import { blockRows, blocksOf, paragraphRows, type MarkdownOptions } from "./markdown.ts";

/** A paragraph that is longer is taken for several, so that it is not read again as a whole with each word. */
const LONG = 4000;

/**
 * Markdown that is still being written: rows that are final, and those that may change with the next words. Nothing
 * that was given out as final is ever taken back.
 */
export class MarkdownStream {
  /** Source that is not final: a block from its beginning, or from where it was cut. */
  #source = "";
  /** The opening line of the code that the source goes on with. */
  #fence: string | undefined;
  /** Whether something of the first block has been given out, and whether anything has. */
  #isBegun = false;
  #isAny = false;

  /** Takes in a piece of text and gives back the rows that are final. */
  write(text: string, options: MarkdownOptions): Harmless[] {
    this.#source += text.replaceAll("\r\n", "\n");
    const whole = this.#whole;
    const blocks = blocksOf(whole);
    const at = blocks.findLastIndex(({ type }) => type !== "space");
    if (at < 0) return [];
    const rows = this.#take(blocks.slice(0, at), options);
    if (at > 0) this.#source = whole.slice(placeOf(blocks, at, whole));
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
    this.#isAny = false;
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
        this.#isBegun = false;
        this.#isAny = true;
        return rows;
      });
  }

  /** The rows of the first block that have not been given out. */
  #rest(block: Token, options: MarkdownOptions): Harmless[] {
    const isGiven = this.#fence !== undefined && block.type === "code" && block.text === "";
    return isGiven ? [] : blockRows(block, options);
  }

  /** An empty row stands between two blocks. */
  #spaced(rows: Harmless[]): Harmless[] {
    return this.#isAny && !this.#isBegun && rows.length > 0 ? [shown``, ...rows] : rows;
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
    this.#isBegun = true;
    this.#isAny = true;
    return rows;
  }

  #wholeLines(): Cut | undefined {
    const fence = this.#fence ?? /^ {0,3}(?:`{3,}|~{3,})[^\n]*(?=\n)/.exec(this.#source)?.[0];
    if (fence === undefined) return undefined;
    const start = this.#fence === undefined ? fence.length + 1 : 0;
    const length = this.#source.lastIndexOf("\n") + 1;
    if (length <= start) return undefined;
    const text = this.#source.slice(start, length - 1);
    // Where it may be closed, it is whole when something follows it.
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
  return { block: { ...list, items: list.items.slice(0, last) }, length: placeOf(list.items, last, source) };
}

/** Where one of several parts begins. The parser leaves out spaces at the end of some, and adds one to a box. */
function placeOf(parts: readonly { raw: string }[], at: number, source: string): number {
  const before = parts.slice(0, at).reduce((sum, { raw }) => sum + raw.length, 0);
  return Math.max(before, source.indexOf(parts[at]!.raw.trimEnd(), before));
}

/** The beginning of a paragraph that is too long to be read again with each word, unless it may become a table. */
function longStart(raw: string, options: MarkdownOptions): Cut | undefined {
  if (raw.length <= LONG || /^\s*\|/m.test(raw)) return undefined;
  const length = Math.max(raw.lastIndexOf(" ", LONG), raw.lastIndexOf("\n", LONG)) + 1 || LONG;
  return { rows: paragraphRows(raw.slice(0, length), options), length };
}
