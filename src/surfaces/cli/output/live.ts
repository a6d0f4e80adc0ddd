import type { RunEvent } from "../../../threads/events/events.ts";
import { EMPTY_VIEW, MAIN, type RunView } from "../../../threads/events/view.ts";
import type { Prices } from "../../../threads/prepare/prices.ts";
import { frame } from "./frame.ts";
import { fit, harmless, oneLine, shown, wrapped, type Harmless } from "./harmless.ts";
import { linesOf, planLines, thoughtLine } from "./lines.ts";
import { LiveRegion } from "./live-region.ts";
import type { Output, Screen } from "./output.ts";
import type { Paint } from "./paint.ts";

const WAS_THINKING = "(that was thinking)";
const TICK_MS = 100;

export interface LiveOptions {
  paint: Paint;
  prices?: Prices | undefined;
  /** Whether questions are asked on this terminal, and so need not be shown here. */
  asks: boolean;
}

/** Text that scrolls, and below it the plan as it stands, drawn anew whenever something happens. */
export class LiveOutput implements Output {
  readonly #screen: Screen;
  readonly #region: LiveRegion;
  readonly #paint: Paint;
  readonly #prices: Prices | undefined;
  readonly #asks: boolean;
  #view: RunView = EMPTY_VIEW;
  /** The line of text that is being written. */
  #text = shown``;
  #thoughts = "";
  #timer: NodeJS.Timeout | undefined;
  readonly #onResize = (): void => this.#draw([]);

  constructor(screen: Screen, { paint, prices, asks }: LiveOptions) {
    this.#screen = screen;
    this.#region = new LiveRegion(screen);
    this.#paint = paint;
    this.#prices = prices;
    this.#asks = asks;
    screen.on("resize", this.#onResize);
    this.resume();
  }

  show(event: RunEvent, view: RunView): void {
    this.#view = view;
    const lines = this.#scrolled(event);
    if (event.type === "run-end") this.#finish(lines);
    else this.#draw(lines);
  }

  pause(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#region.draw(this.#takeText(), []);
  }

  resume(): void {
    this.#timer ??= setInterval(() => this.#draw([]), TICK_MS).unref();
  }

  close(): void {
    this.pause();
    this.#screen.off("resize", this.#onResize);
  }

  /** The lines that an event adds to the text above the plan. */
  #scrolled(event: RunEvent): Harmless[] {
    switch (event.type) {
      case "text":
        if (event.owner !== MAIN) return [];
        // What has scrolled stays on the screen: it is said what it was.
        return [
          ...this.#takeThoughts(),
          ...(event.anew ? [...this.#takeText(), this.#paint("dim", oneLine(WAS_THINKING))] : []),
          ...this.#write(event.text),
        ];
      case "model-end":
        // What was streamed is on the screen already.
        return event.owner === MAIN ? [...this.#takeThoughts(), ...this.#takeText()] : [];
      case "thought":
        if (event.owner === MAIN) this.#thoughts += event.text;
        return [];
      case "tool-end":
      case "model-retry":
      case "summary":
      case "summary-failure":
        return event.owner === MAIN ? this.#fitted(event) : [];
      case "question":
        return this.#asks ? [] : this.#fitted(event);
      case "run-start":
      case "message":
      case "notice":
        return this.#fitted(event);
      case "run-end":
        return [
          ...this.#takeText(),
          shown``,
          ...planLines(this.#view.agents.get(MAIN)?.todos ?? [], MAIN, this.#paint).map((line) =>
            fit(line, this.#columns),
          ),
          ...linesOf(event, this.#view, this.#paint),
        ];
      default:
        return [];
    }
  }

  #fitted(event: RunEvent): Harmless[] {
    const lines = linesOf(event, this.#view, this.#paint).map((line) => fit(line, this.#columns));
    return [...this.#takeText(), ...lines];
  }

  /** Takes in a piece of text and gives back the rows that are complete. */
  #write(text: string): Harmless[] {
    const rows = wrapped(shown`${this.#text}${harmless(text)}`, this.#columns - 1);
    this.#text = rows.pop() ?? shown``;
    return rows;
  }

  #takeThoughts(): Harmless[] {
    const thoughts = this.#thoughts.trim();
    this.#thoughts = "";
    return thoughts ? [fit(thoughtLine(thoughts, this.#paint), this.#columns)] : [];
  }

  #takeText(): Harmless[] {
    const text = this.#text;
    this.#text = shown``;
    return text.trim() ? [text] : [];
  }

  #draw(lines: readonly Harmless[]): void {
    if (this.#timer === undefined) {
      if (lines.length > 0) this.#region.draw(lines, []);
      return;
    }
    const columns = this.#columns;
    const height = this.#screen.rows || 24;
    const text = this.#text ? [fit(this.#text, columns)] : [];
    const rows = Math.max(1, Math.min(Math.floor(height * 0.6), height - text.length - 2));
    const plan = frame(this.#view, {
      columns,
      rows,
      now: Date.now(),
      paint: this.#paint,
      prices: this.#prices,
    });
    // What is higher than the terminal cannot be erased: what comes first gives way.
    this.#region.draw(lines, [...text, shown``, ...plan].slice(-Math.max(1, height - 1)));
  }

  #finish(lines: readonly Harmless[]): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#region.draw(lines, []);
  }

  get #columns(): number {
    // A terminal that does not know its width says 0.
    return Math.max(2, this.#screen.columns || 80);
  }
}
