import stringWidth from "string-width";
import { changeOf } from "./changed-cells.ts";
import { joined, shown, type Harmless, type Sink } from "./harmless.ts";

const ESC = shown`\u001B[`;
const HIDE_CURSOR = shown`${ESC}?25l`;
const SHOW_CURSOR = shown`${ESC}?25h`;
/** Synchronized output: terminals that support it draw everything between these at once, others ignore them. */
const [BEGIN, END] = [shown`${ESC}?2026h`, shown`${ESC}?2026l`];
/** Longer output is synchronized; a terminal reads shorter output in one piece. */
const MAX_UNSYNCHRONIZED = 256;
/** Between these the terminal cuts a line that is too long instead of wrapping it. */
const [NO_WRAP, WRAP] = [shown`${ESC}?7l`, shown`${ESC}?7h`];

const FEEDS = [shown``, shown`\n`, shown`\n\n`, shown`\n\n\n`];

/** The output of a region. */
export interface Screen extends Pick<Sink, "write"> {
  columns?: number;
  rows?: number;
}

/** A position in the region. */
export interface CursorPlace {
  row: number;
  column: number;
}

/**
 * Lines at the bottom of a terminal that are redrawn, below scrolling text. Only changes are written: new text above the
 * region, and the cells of the region that differ.
 */
export class LiveRegion {
  readonly #screen: Screen;
  /** The drawn lines; the last one is for the cursor if it has no position in the region. */
  #lines: readonly Harmless[] = [shown``];
  #cursor: CursorPlace = { row: 0, column: 0 };
  #isCursorVisible = true;
  /** The width of the terminal at the last drawing; 0 redraws everything. */
  #columns = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Writes scrolling text in whole lines, and draws the region below it. Without `cursor` the cursor is hidden. */
  draw(scrolled: readonly Harmless[], lines: readonly Harmless[], cursor?: CursorPlace): void {
    // A hidden cursor gets a line of its own: on a resize some terminals wrap the line that it is on, others do not.
    const next = cursor ? lines : [...lines, shown``];
    const place = cursor ?? { row: lines.length, column: 0 };
    const isCursorVisible = cursor !== undefined || lines.length === 0;
    const body = this.#canUpdate(scrolled, next)
      ? this.#update(scrolled, next)
      : this.#redraw(scrolled, next);
    const visibility =
      isCursorVisible === this.#isCursorVisible ? shown`` : isCursorVisible ? SHOW_CURSOR : HIDE_CURSOR;
    // Without a prompt the terminal may have echoed a key, such as `^C`, which is erased.
    const at = cursor ? this.#moved(place) : shown`${this.#moved(place)}${body ? shown`${ESC}J` : shown``}`;
    const [begin, end] = body.length > MAX_UNSYNCHRONIZED ? [BEGIN, END] : [shown``, shown``];
    if (body || visibility || at) this.#screen.write(shown`${begin}${body}${at}${visibility}${end}`);
    this.#isCursorVisible = isCursorVisible;
    this.#lines = next;
    this.#columns = this.#width;
  }

  /** Redraws everything in the next frame, as another program may have written to the terminal. */
  forget(): void {
    this.#columns = 0;
  }

  get #width(): number {
    return this.#screen.columns || 80;
  }

  /** Whether the terminal has the same width, and all new lines fit on it. */
  #canUpdate(scrolled: readonly Harmless[], next: readonly Harmless[]): boolean {
    const height = this.#screen.rows || 24;
    return (
      this.#columns === this.#width &&
      Math.max(this.#lines.length, scrolled.length + next.length) < height &&
      scrolled.every((line) => stringWidth(line) < this.#columns)
    );
  }

  /** Turns the drawn rows into the new ones: inserts or deletes rows, then changes those that differ. */
  #update(scrolled: readonly Harmless[], next: readonly Harmless[]): Harmless {
    const target = [...scrolled, ...next];
    const parts: Harmless[] = [];
    const drawn = this.#moveRows(target, parts);
    for (const [row, line] of target.entries()) {
      const was = drawn[row]!;
      if (was === line) continue;
      const { column, text, end, clears } = changeOf(was, line);
      if (!text && !clears) continue;
      parts.push(this.#moved({ row, column }), text, clears ? shown`${ESC}K` : shown``);
      this.#cursor = { row, column: end };
    }
    // The scrolled rows do not belong to the region any more.
    this.#cursor = { ...this.#cursor, row: this.#cursor.row - scrolled.length };
    return parts.length === 0 ? shown`` : shown`${NO_WRAP}${joined(parts, "")}${WRAP}`;
  }

  /** Inserts or deletes rows where the drawn and the new ones begin to differ. Returns the rows that are drawn then. */
  #moveRows(target: readonly Harmless[], parts: Harmless[]): readonly Harmless[] {
    const drawn = this.#lines;
    const more = target.length - drawn.length;
    if (more === 0) return drawn;
    const difference = drawn.findIndex(
      (line, at) => line !== target[at] && (!line || !target[at]?.startsWith(line)),
    );
    const at = difference < 0 ? drawn.length : Math.min(difference, target.length);
    if (more < 0) {
      parts.push(this.#moved({ row: at, column: 0 }), shown`${ESC}${-more}M`);
      return [...drawn.slice(0, at), ...drawn.slice(at - more)];
    }
    const bottom = drawn.length - 1;
    const room = Array.from({ length: more }, () => shown``);
    // Line feeds scroll the screen if the region is at its bottom; the inserted lines then move the rows below back down.
    parts.push(this.#moved({ row: bottom, column: 0 }), joined([...room, shown``], "\n"));
    this.#cursor = { row: bottom + more, column: 0 };
    if (at <= bottom) parts.push(this.#moved({ row: at, column: 0 }), shown`${ESC}${more}L`);
    return [...drawn.slice(0, at), ...room, ...drawn.slice(at)];
  }

  /** Erases the region and writes everything. */
  #redraw(scrolled: readonly Harmless[], next: readonly Harmless[]): Harmless {
    const text = scrolled.length === 0 ? shown`` : shown`${joined(scrolled, "\n")}\n`;
    const erasing = this.#erasing();
    this.#cursor = { row: next.length - 1, column: stringWidth(next.at(-1)!) };
    return shown`${erasing}${text}${NO_WRAP}${joined(next, "\n")}${WRAP}`;
  }

  /**
   * A terminal that became narrower has wrapped the drawn lines, which take more rows now. A frame that is drawn before
   * the resize event leaves these rows behind, while its own lines are cut: counted as if they were wrapped, they make up
   * for it.
   */
  #erasing(): Harmless {
    const { row, column } = this.#cursor;
    const above = this.#lines.slice(0, row);
    const height = above.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / this.#width)),
      Math.floor(column / this.#width),
    );
    return height > 0 ? shown`\r${ESC}${height}A${ESC}J` : shown`\r${ESC}J`;
  }

  /** Moves the cursor to a position in the region. */
  #moved({ row, column }: CursorPlace): Harmless {
    const from = this.#cursor;
    this.#cursor = { row, column };
    const by = row - from.row;
    // Line feeds are the shortest way down. Depending on its settings, the terminal moves to the first column with them.
    if (by > 0 && by < 4)
      return shown`\r${FEEDS[by]!}${column === 0 ? shown`` : shown`${ESC}${column + 1}G`}`;
    const vertical = by === 0 ? shown`` : by < 0 ? shown`${ESC}${-by}A` : shown`${ESC}${by}B`;
    if (column === 0) return shown`${vertical}\r`;
    return column === from.column ? vertical : shown`${vertical}${ESC}${column + 1}G`;
  }
}
