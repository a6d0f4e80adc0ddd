import stringWidth from "string-width";
import { changeOf } from "./changed-cells.ts";
import { joined, shown, type Harmless } from "./harmless.ts";
import type { Screen } from "./output.ts";

const ESC = shown`\u001B[`;
const HIDE_CURSOR = shown`${ESC}?25l`;
const SHOW_CURSOR = shown`${ESC}?25h`;
/** Terminals that know these show everything between them at once; the others ignore them. */
const [BEGIN, END] = [shown`${ESC}?2026h`, shown`${ESC}?2026l`];
/** The longest output that is written at once; a terminal reads it in one piece. */
const AT_ONCE = 256;
/** Between these a line that is too long is cut and not broken. */
const [NO_WRAP, WRAP] = [shown`${ESC}?7l`, shown`${ESC}?7h`];

const FEEDS = [shown``, shown`\n`, shown`\n\n`, shown`\n\n\n`];

/** A place in the region. */
export interface Place {
  row: number;
  column: number;
}

/**
 * Lines at the bottom of a terminal that are drawn again and again, below text that scrolls. Only what has changed is
 * written: text is pushed in above the region, and of the region the cells that are different.
 */
export class LiveRegion {
  readonly #screen: Screen;
  /** The drawn lines; the cursor rests on the last one when it has no place in the region. */
  #lines: readonly Harmless[] = [shown``];
  #cursor: Place = { row: 0, column: 0 };
  #isShown = true;
  /** The width that it was drawn for. */
  #columns = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Writes text for good, in whole lines, and draws the region below it, with the cursor where it is wanted. */
  draw(scrolled: readonly Harmless[], lines: readonly Harmless[], cursor?: Place): void {
    // The cursor rests on a line of its own: some terminals break the line that it is on, others do not.
    const next = cursor ? lines : [...lines, shown``];
    const place = cursor ?? { row: lines.length, column: 0 };
    const isShown = cursor !== undefined || lines.length === 0;
    const body = this.#canPush(scrolled, next) ? this.#pushed(scrolled, next) : this.#anew(scrolled, next);
    const seen = isShown === this.#isShown ? shown`` : isShown ? SHOW_CURSOR : HIDE_CURSOR;
    // Where nobody types into the region, a terminal may have shown what was typed all the same: `^C`.
    const at = cursor ? this.#moved(place) : shown`${this.#moved(place)}${body ? shown`${ESC}J` : shown``}`;
    const [begin, end] = body.length > AT_ONCE ? [BEGIN, END] : [shown``, shown``];
    if (body || seen || at) this.#screen.write(shown`${begin}${body}${at}${seen}${end}`);
    this.#isShown = isShown;
    this.#lines = next;
    this.#columns = this.#width;
  }

  /** The next frame is drawn as a whole: something else may have written there. */
  forget(): void {
    this.#columns = 0;
  }

  get #width(): number {
    return this.#screen.columns || 80;
  }

  /** Whether the terminal is as it was, and all of what is new has room on it. */
  #canPush(scrolled: readonly Harmless[], next: readonly Harmless[]): boolean {
    const height = this.#screen.rows || 24;
    return (
      this.#columns === this.#width &&
      Math.max(this.#lines.length, scrolled.length + next.length) < height &&
      scrolled.every((line) => stringWidth(line) < this.#columns)
    );
  }

  /** Makes of what is drawn what is wanted: rows are moved where there are more or fewer, and changed where they differ. */
  #pushed(scrolled: readonly Harmless[], next: readonly Harmless[]): Harmless {
    const wanted = [...scrolled, ...next];
    const parts: Harmless[] = [];
    const drawn = this.#moveRows(wanted, parts);
    for (const [row, line] of wanted.entries()) {
      const was = drawn[row]!;
      if (was === line) continue;
      const { column, text, end, clears } = changeOf(was, line);
      if (!text && !clears) continue;
      parts.push(this.#moved({ row, column }), text, clears ? shown`${ESC}K` : shown``);
      this.#cursor = { row, column: end };
    }
    // What has scrolled is not ours any more.
    this.#cursor = { ...this.#cursor, row: this.#cursor.row - scrolled.length };
    return parts.length === 0 ? shown`` : shown`${NO_WRAP}${joined(parts, "")}${WRAP}`;
  }

  /** Makes room, or takes it away, where the rows begin to differ. Gives back what is drawn then. */
  #moveRows(wanted: readonly Harmless[], parts: Harmless[]): readonly Harmless[] {
    const drawn = this.#lines;
    const more = wanted.length - drawn.length;
    if (more === 0) return drawn;
    const same = drawn.findIndex(
      (line, at) => line !== wanted[at] && (!line || !wanted[at]?.startsWith(line)),
    );
    const at = same < 0 ? drawn.length : Math.min(same, wanted.length);
    if (more < 0) {
      parts.push(this.#moved({ row: at, column: 0 }), shown`${ESC}${-more}M`);
      return [...drawn.slice(0, at), ...drawn.slice(at - more)];
    }
    const bottom = drawn.length - 1;
    const room = Array.from({ length: more }, () => shown``);
    // At the bottom of the screen this scrolls it, and the rows below the place go back to where they were.
    parts.push(this.#moved({ row: bottom, column: 0 }), joined([...room, shown``], "\n"));
    this.#cursor = { row: bottom + more, column: 0 };
    if (at <= bottom) parts.push(this.#moved({ row: at, column: 0 }), shown`${ESC}${more}L`);
    return [...drawn.slice(0, at), ...room, ...drawn.slice(at)];
  }

  /** Takes the region away and writes everything. */
  #anew(scrolled: readonly Harmless[], next: readonly Harmless[]): Harmless {
    const text = scrolled.length === 0 ? shown`` : shown`${joined(scrolled, "\n")}\n`;
    const erasing = this.#erasing();
    this.#cursor = { row: next.length - 1, column: stringWidth(next.at(-1)!) };
    return shown`${erasing}${text}${NO_WRAP}${joined(next, "\n")}${WRAP}`;
  }

  /**
   * A terminal that became narrower has broken the drawn lines: they take more rows now than they did. A frame that
   * comes before we hear of it leaves the additional rows behind, and its own lines are cut: counted as if they were
   * broken, they make up for it.
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

  /** Moves the cursor to a place of the region. */
  #moved({ row, column }: Place): Harmless {
    const from = this.#cursor;
    this.#cursor = { row, column };
    const by = row - from.row;
    // A line feed is the shortest way down, and goes to the first column where the terminal is set so.
    if (by > 0 && by < 4)
      return shown`\r${FEEDS[by]!}${column === 0 ? shown`` : shown`${ESC}${column + 1}G`}`;
    const vertical = by === 0 ? shown`` : by < 0 ? shown`${ESC}${-by}A` : shown`${ESC}${by}B`;
    if (column === 0) return shown`${vertical}\r`;
    return column === from.column ? vertical : shown`${vertical}${ESC}${column + 1}G`;
  }
}
