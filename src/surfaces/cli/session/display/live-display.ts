import type { RunEvent } from "../../../../threads/events/index.ts";
import { EMPTY_VIEW, type RunView, type Prices } from "../../../../threads/view/index.ts";
import {
  frame,
  fit,
  harmless,
  oneLine,
  shown,
  wrapped,
  type Harmless,
  LiveRegion,
  type Place,
  type Paint,
} from "../../output/index.ts";
import { isLive, type Terminal } from "../../terminal.ts";
import { AnswerView } from "../../view/index.ts";
import type { History } from "../prompt/history.ts";
import { Keyboard } from "../prompt/keyboard.ts";
import { PromptKeys } from "../prompt/prompt-keys.ts";
import { promptLines } from "../prompt/prompt-lines.ts";
import type { Answered, Asked, Display, DisplayOptions, Status, SessionActions } from "./display.ts";
import { PlainDisplay } from "./plain-display.ts";

/** The interval at which an agent's words are drawn; typed keys are drawn at once. */
const FRAME_MS = 33;
/** Times and what turns go on so often: each time some rows are drawn for it. */
const TICK_MS = 250;
const MOST_QUEUED = 3;
/** Keys that come sooner after a question, or after each other, were not meant for it. */
const QUIET_MS = 500;

export interface LiveDisplayOptions extends DisplayOptions {
  terminal: Pick<Terminal, "stdin" | "stdout">;
  paint: Paint;
  /** The prices of the model that answers now. */
  prices?: () => Prices | undefined;
  history: History;
  /** Calls back after a moment without keys; what it returns calls it off. Default: half a second. */
  onQuiet?: (then: () => void) => () => void;
}

/** A session on a terminal: text that scrolls, and below it the plan, what waits, and a prompt that is never deaf. */
export class LiveDisplay implements Display {
  readonly #options: LiveDisplayOptions;
  readonly #region: LiveRegion;
  readonly #keyboard: Keyboard;
  readonly #answer: AnswerView;
  readonly #prompt: PromptKeys;
  #view: RunView = EMPTY_VIEW;
  #status: Status = { isBusy: false, queue: [], footer: shown`` };
  /** Lines that are final and not drawn yet. */
  #scrolled: Harmless[] = [];
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #ticks: NodeJS.Timeout | undefined;
  #now = Date.now();
  #isLent = true;
  #hasPrompt = true;
  readonly #onResize = (): void => this.#drawSoon();

  constructor(options: LiveDisplayOptions) {
    this.#options = options;
    this.#region = new LiveRegion(options.terminal.stdout);
    this.#answer = new AnswerView(options.paint);
    const { onQuiet = afterQuiet } = options;
    this.#prompt = new PromptKeys({
      ...options,
      onQuiet: (then) =>
        onQuiet(() => {
          then();
          this.#drawSoon();
        }),
      onAsk: ({ about }) => this.print(about),
      onSuspend: () => this.#suspend(),
      onRedraw: () => this.#region.forget(),
      onChange: () => this.#drawSoon(),
    });
    this.#keyboard = new Keyboard(options.terminal, (key) => {
      this.#prompt.press(key);
      this.#drawSoon();
    });
  }

  open(actions: SessionActions): void {
    this.#prompt.actions = actions;
    this.#options.terminal.stdout.on("resize", this.#onResize);
    this.#take();
  }

  /** Draws a run alone: there is no prompt, and nothing is read from the terminal. */
  watch(): void {
    this.#hasPrompt = false;
    this.#options.terminal.stdout.on("resize", this.#onResize);
    this.#take();
    this.status({ isBusy: true, queue: [], footer: shown`` });
  }

  print(lines: readonly Harmless[]): void {
    const rows = lines.flatMap((line) => wrapped(line, this.#columns - 1));
    this.#scrolled.push(...this.#answer.flush(this.#columns), ...rows);
    this.#drawSoon();
  }

  show(event: RunEvent, view: RunView): void {
    this.#view = view;
    this.#scrolled.push(...this.#answer.take(event, view, this.#columns));
    if (event.type === "run-end") this.#view = EMPTY_VIEW;
    // Many pieces are drawn as one.
    if (this.#timer === undefined && this.#soon === undefined) {
      this.#timer = setTimeout(() => this.#draw(), FRAME_MS);
    }
  }

  status(status: Status): void {
    this.#status = status;
    this.#prompt.isBusy = status.isBusy;
    clearInterval(this.#ticks);
    this.#ticks = status.isBusy ? setInterval(() => this.#tick(), TICK_MS) : undefined;
    this.#drawSoon();
  }

  ask(asked: Asked): Promise<Answered> {
    return this.#prompt.ask(asked);
  }

  dismiss(): void {
    this.#prompt.dismiss();
  }

  draft(text: string): void {
    this.#prompt.put(text);
    this.#drawSoon();
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#giveAway();
    try {
      return await work();
    } finally {
      this.#take();
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#ticks);
    this.#scrolled.push(...this.#answer.flush(this.#columns));
    this.#draw(true);
    this.#isLent = true;
    this.#options.terminal.stdout.off("resize", this.#onResize);
    await this.#keyboard.close();
  }

  #take(): void {
    this.#isLent = false;
    this.#region.forget();
    if (this.#hasPrompt) this.#keyboard.open();
    this.#drawSoon();
  }

  #giveAway(): void {
    this.#draw(true);
    this.#isLent = true;
    this.#keyboard.lend();
  }

  /** Ctrl-Z: the shell gets the terminal as it was; `fg` brings the session back. */
  #suspend(): void {
    // No shell takes a process back there: the signal would end it.
    if (process.platform === "win32") return;
    this.#giveAway();
    process.kill(0, "SIGTSTP");
    // Runs when the process is continued.
    setTimeout(() => this.#take(), TICK_MS);
  }

  #tick(): void {
    this.#now = Date.now();
    this.#draw();
  }

  #drawSoon(): void {
    this.#soon ??= setImmediate(() => this.#draw());
  }

  #draw(isLast = false): void {
    clearTimeout(this.#timer);
    if (this.#soon) clearImmediate(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
    if (this.#isLent) return;
    this.#scrolled.push(...this.#answer.advance(this.#columns));
    const scrolled = this.#scrolled;
    this.#scrolled = [];
    if (isLast) return this.#region.draw(scrolled, []);
    if (!this.#hasPrompt) return this.#region.draw(scrolled, this.#run());
    const { lines, cursor } = this.#composed();
    this.#region.draw(scrolled, lines, cursor);
  }

  /** The run that is drawn alone: its newest words, and the plan below them. */
  #run(): Harmless[] {
    if (this.#view === EMPTY_VIEW) return [];
    const height = Math.max(2, this.#options.terminal.stdout.rows || 24);
    const rows = Math.max(1, Math.min(Math.floor(height * 0.6), height - 3));
    const tail = this.#answer.tail(this.#columns).map((line) => fit(line, this.#columns));
    // Lines above the top of the terminal cannot be erased: what comes first gives way.
    return [...tail, shown``, ...this.#plan(rows)].slice(1 - height);
  }

  #plan(rows: number): Harmless[] {
    const { paint, prices } = this.#options;
    const view = this.#answer.current(this.#view);
    return frame(view, { columns: this.#columns, rows, now: this.#now, paint, prices: prices?.() });
  }

  /** Composes the region from the bottom up: the prompt always fits, the newest words give way first. */
  #composed(): { lines: Harmless[]; cursor: Place } {
    const { paint } = this.#options;
    const columns = this.#columns;
    const height = Math.max(4, (this.#options.terminal.stdout.rows || 24) - 1);
    const prompt = promptLines(this.#prompt.draft, {
      columns,
      rows: Math.max(1, Math.min(8, Math.floor(height / 3))),
      paint,
      hint: this.#prompt.hint,
    });
    const below = [...this.#prompt.below(paint, height), this.#status.footer];
    const above = [...this.#queueLines(), ...this.#prompt.above(paint)];
    let room = Math.max(0, height - prompt.lines.length - below.length - above.length - 1);
    const isPlanned = this.#status.isBusy && this.#view !== EMPTY_VIEW && room > 0;
    const rows = Math.max(1, Math.min(Math.ceil(height * 0.5), room));
    const plan = isPlanned ? this.#plan(rows) : [];
    room -= plan.length;
    const tail = room > 0 ? this.#answer.tail(columns).slice(-room) : [];
    const upper = [...tail, shown``, ...plan, ...above];
    const all = [...upper, ...prompt.lines, ...below].map((line) => fit(line, columns));
    // Lines above the top of the terminal cannot be erased.
    const cut = Math.max(0, all.length - height);
    const row = Math.max(0, upper.length + prompt.cursor.row - cut);
    return { lines: all.slice(cut), cursor: { row, column: Math.min(prompt.cursor.column, columns - 1) } };
  }

  #queueLines(): Harmless[] {
    const { queue } = this.#status;
    const { paint } = this.#options;
    const lines = queue.slice(0, MOST_QUEUED).map(({ text, isOnItsWay }) => {
      const word = isOnItsWay ? "at its next call" : "queued";
      return paint("dim", shown`${harmless(word)}: ${oneLine(text)}`);
    });
    const more = queue.length - lines.length;
    return more > 0 ? [...lines, paint("dim", shown`… ${more} more queued`)] : lines;
  }

  get #columns(): number {
    return Math.max(8, this.#options.terminal.stdout.columns || 80);
  }
}

function afterQuiet(then: () => void): () => void {
  const timer = setTimeout(then, QUIET_MS);
  return () => clearTimeout(timer);
}

/** The display that a terminal can have. */
export function displayFor(
  options: LiveDisplayOptions & { terminal: Terminal },
  isPlain: boolean | undefined = false,
): Display {
  const { terminal } = options;
  return isPlain || !isLive(terminal) || !terminal.stdout.columns
    ? new PlainDisplay(terminal)
    : new LiveDisplay(options);
}
