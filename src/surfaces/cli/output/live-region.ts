import stringWidth from "string-width";
import type { Screen } from "./output.ts";

const ESC = "\u001B[";
const HIDE_CURSOR = `${ESC}?25l`;
const SHOW_CURSOR = `${ESC}?25h`;
/** Terminals that know these show everything between them at once; the others ignore them. */
const [BEGIN, END] = [`${ESC}?2026h`, `${ESC}?2026l`];
/** Between these a line that is too long is cut and not broken. */
const [NO_WRAP, WRAP] = [`${ESC}?7l`, `${ESC}?7h`];

/** Lines at the bottom of a terminal that are drawn again and again, below text that scrolls. */
export class LiveRegion {
  readonly #screen: Screen;
  #lines: readonly string[] = [];

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** Writes text for good, in whole lines, and draws the region below it. */
  draw(scrolled: readonly string[], lines: readonly string[]): void {
    const text = scrolled.map((line) => `${line}\n`).join("");
    // The cursor rests on a line of its own: some terminals break the line that it is on, others do not.
    const region = lines.map((line) => `${line}\n`).join("");
    const cursor = lines.length > 0 ? HIDE_CURSOR : SHOW_CURSOR;
    this.#screen.write(BEGIN + this.#erasing() + text + NO_WRAP + region + WRAP + cursor + END);
    this.#lines = lines;
  }

  /**
   * A terminal that became narrower has broken the drawn lines: they take more rows now than they did. A frame that
   * comes before we hear of it leaves the additional rows behind, and its own lines are cut: counted as if they were
   * broken, they make up for it.
   */
  #erasing(): string {
    if (this.#lines.length === 0) return "";
    const columns = this.#screen.columns || 80;
    const height = this.#lines.reduce(
      (rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)),
      0,
    );
    return `\r${ESC}${height}A${ESC}J`;
  }
}
