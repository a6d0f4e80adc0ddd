import type { RunEvent } from "../../../threads/events/events.ts";
import { EMPTY_VIEW, type RunView } from "../../../threads/events/view.ts";
import type { Prices } from "../../../threads/prepare/prices.ts";
import { AnswerView } from "../session/view/answer-view.ts";
import { frame } from "./frame.ts";
import { fit, shown, type Harmless } from "./harmless.ts";
import { linesOf } from "./lines.ts";
import { LiveRegion } from "./live-region.ts";
import type { Output, Screen } from "./output.ts";
import type { Paint } from "./paint.ts";

const TICK_MS = 100;

export interface LiveOptions {
  paint: Paint;
  prices?: Prices | undefined;
  /** Whether questions are asked on this terminal, and so need not be shown here. */
  asks: boolean;
}

/** Text that scrolls, as in a session, and below it the plan as it stands. */
export class LiveOutput implements Output {
  readonly #screen: Screen;
  readonly #region: LiveRegion;
  readonly #answer: AnswerView;
  readonly #options: LiveOptions;
  #view: RunView = EMPTY_VIEW;
  #timer: NodeJS.Timeout | undefined;
  readonly #onResize = (): void => this.#draw([]);

  constructor(screen: Screen, options: LiveOptions) {
    this.#screen = screen;
    this.#region = new LiveRegion(screen);
    this.#answer = new AnswerView(options.paint);
    this.#options = options;
    screen.on("resize", this.#onResize);
    this.resume();
  }

  show(event: RunEvent, view: RunView): void {
    this.#view = view;
    const lines = this.#scrolled(event);
    if (event.type === "run-end") this.#rest(lines);
    else this.#draw(lines);
  }

  pause(): void {
    this.#rest(this.#answer.flush(this.#columns));
  }

  resume(): void {
    this.#timer ??= setInterval(() => this.#draw([]), TICK_MS).unref();
  }

  close(): void {
    this.pause();
    this.#screen.off("resize", this.#onResize);
  }

  #scrolled(event: RunEvent): Harmless[] {
    const isHere = event.type === "run-start" || (event.type === "question" && !this.#options.asks);
    const lines = isHere ? linesOf(event, this.#view, this.#options.paint) : [];
    const taken = this.#answer.take(event, this.#view, this.#columns);
    return lines.length > 0 ? this.#answer.rows(lines, this.#columns) : taken;
  }

  #draw(lines: readonly Harmless[]): void {
    const columns = this.#columns;
    const scrolled = [...lines, ...this.#answer.advance(columns)];
    if (this.#timer === undefined) {
      if (scrolled.length > 0) this.#region.draw(scrolled, []);
      return;
    }
    const height = this.#screen.rows || 24;
    const text = this.#answer.tail(columns).map((row) => fit(row, columns));
    const { paint, prices } = this.#options;
    const rows = Math.max(1, Math.min(Math.floor(height * 0.6), height - 3));
    const plan = frame(this.#view, { columns, rows, now: Date.now(), paint, prices });
    // What is higher than the terminal cannot be erased: what comes first gives way.
    this.#region.draw(scrolled, [...text, shown``, ...plan].slice(-Math.max(1, height - 1)));
  }

  /** Leaves nothing of the plan on the screen. */
  #rest(lines: readonly Harmless[]): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#region.draw(lines, []);
  }

  get #columns(): number {
    // A terminal that does not know its width says 0.
    return Math.max(2, this.#screen.columns || 80);
  }
}
