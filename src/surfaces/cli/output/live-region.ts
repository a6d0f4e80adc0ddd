import stringWidth from "string-width";
import { joined, shown, type Harmless } from "./harmless.ts";
import type { Screen } from "./output.ts";

const ESC = shown`\u001B[`;
const HIDE_CURSOR = shown`${ESC}?25l`;
const SHOW_CURSOR = shown`${ESC}?25h`;
/** Terminals that know these show everything between them at once; the others ignore them. */
const [BEGIN, END] = [shown`${ESC}?2026h`, shown`${ESC}?2026l`];
/** Between these a line that is too long is cut and not broken. */
const [NO_WRAP, WRAP] = [shown`${ESC}?7l`, shown`${ESC}?7h`];

/** Lines at the bottom of a terminal that are drawn again and again, below text that scrolls. */
export class LiveRegion {
  readonly #screen: Screen;
  #lines: readonly Harmless[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Writes text for good, in whole lines, and draws the region below it. */
  draw(scrolled: readonly Harmless[], lines: readonly Harmless[]): void {
    const text = ended(scrolled);
    // The cursor rests on a line of its own: some terminals break the line that it is on, others do not.
    const region = ended(lines);
    const cursor = lines.length > 0 ? HIDE_CURSOR : SHOW_CURSOR;
    this.#screen.write(shown`${BEGIN}${this.#erasing()}${text}${NO_WRAP}${region}${WRAP}${cursor}${END}`);
    this.#lines = lines;
  }

  /**
   * A terminal that became narrower has broken the drawn lines: they take more rows now than they did. A frame that
   * comes before we hear of it leaves the additional rows behind, and its own lines are cut: counted as if they were
   * broken, they make up for it.
   */
  #erasing(): Harmless {
    if (this.#lines.length === 0) return shown``;
    const columns = this.#screen.columns || 80;
    const height = this.#lines.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)),
      0,
    );
    return shown`\r${ESC}${height}A${ESC}J`;
  }
}

/** Whole lines, the last one too. */
function ended(lines: readonly Harmless[]): Harmless {
  return lines.length === 0 ? shown`` : shown`${joined(lines, "\n")}\n`;
}
