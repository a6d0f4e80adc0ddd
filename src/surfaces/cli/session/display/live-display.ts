import type { RunEvent } from "../../../../threads/events/index.ts";
import { commandIn } from "../../../../threads/run/index.ts";
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
  type CursorPlace,
  type Paint,
} from "../../output/index.ts";
import { isLive, type Terminal } from "../../terminal.ts";
import { AnswerView } from "../../view/index.ts";
import type { History } from "../prompt/history.ts";
import { Keyboard } from "../prompt/keyboard.ts";
import { PromptKeys } from "../prompt/prompt-keys.ts";
import { promptLines } from "../prompt/prompt-lines.ts";
import type {
  DisplayAnswer,
  DisplayQuestion,
  Display,
  DisplayOptions,
  Status,
  SessionActions,
} from "./display.ts";
import { PlainDisplay } from "./plain-display.ts";

/** The interval for drawing the agent's output; typed keys are drawn at once. */
const FRAME_MS = 33;
/** The interval for clocks and the spinner. Each tick redraws some rows. */
const TICK_MS = 250;
const MOST_QUEUED = 3;
/** Rings the terminal's bell. */
const BELL = shown`\u0007`;
/** The shortest run whose end rings the bell. */
const LONG_RUN_MS = 10_000;
/** The time without keys after which keys count as an answer to a question. */
const QUIET_MS = 500;

export interface LiveDisplayOptions extends DisplayOptions {
  terminal: Pick<Terminal, "stdin" | "stdout">;
  paint: Paint;
  /** The prices of the current model. */
  prices?: () => Prices | undefined;
  history: History;
  /** Calls back after a time without keys, by default half a second. Returns a function that cancels. */
  onQuiet?: (callback: () => void) => () => void;
}

/** A session on a terminal: scrolling text, and below it the plan, the queue, and a prompt that always accepts input. */
export class LiveDisplay implements Display {
  readonly #options: LiveDisplayOptions;
  readonly #region: LiveRegion;
  readonly #keyboard: Keyboard;
  readonly #answer: AnswerView;
  readonly #prompt: PromptKeys;
  #view: RunView = EMPTY_VIEW;
  #status: Status = { isBusy: false, queue: [], footer: shown`` };
  /** Final lines that are not drawn yet. */
  #scrolled: Harmless[] = [];
  #timer: NodeJS.Timeout | undefined;
  #drawing: NodeJS.Immediate | undefined;
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
      onQuiet: (callback) =>
        onQuiet(() => {
          callback();
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

  /** Draws a run without a prompt, and reads no input. */
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
    if (needsPerson(event, view) && !this.#isLent) this.#options.terminal.stdout.write(BELL);
    if (event.type === "run-end") this.#view = EMPTY_VIEW;
    // Collects many small events into one frame.
    if (this.#timer === undefined && this.#drawing === undefined) {
      this.#timer = setTimeout(() => this.#draw(), FRAME_MS);
    }
  }

  status(status: Status): void {
    this.#status = status;
    this.#prompt.isBusy = status.isBusy;
    // Commands stay in the queue.
    this.#prompt.hasQueue = status.queue.some(
      ({ text, isOnItsWay }) => !isOnItsWay && commandIn(text) === undefined,
    );
    clearInterval(this.#ticks);
    this.#ticks = status.isBusy ? setInterval(() => this.#tick(), TICK_MS) : undefined;
    this.#drawSoon();
  }

  ask(question: DisplayQuestion): Promise<DisplayAnswer> {
    return this.#prompt.ask(question);
  }

  dismiss(): void {
    this.#prompt.dismiss();
  }

  draft(text: string): void {
    this.#prompt.put(text);
    this.#drawSoon();
  }

  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#release();
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

  #release(): void {
    this.#draw(true);
    this.#isLent = true;
    this.#keyboard.lend();
  }

  /** Ctrl-Z: restores the terminal and stops the process; `fg` continues it. */
  #suspend(): void {
    // Windows has no job control: the signal would end the process.
    if (process.platform === "win32") return;
    this.#release();
    process.kill(0, "SIGTSTP");
    // Runs when the process is continued.
    setTimeout(() => this.#take(), TICK_MS);
  }

  #tick(): void {
    this.#now = Date.now();
    this.#draw();
  }

  #drawSoon(): void {
    this.#drawing ??= setImmediate(() => this.#draw());
  }

  #draw(isLast = false): void {
    clearTimeout(this.#timer);
    if (this.#drawing) clearImmediate(this.#drawing);
    this.#timer = undefined;
    this.#drawing = undefined;
    if (this.#isLent) return;
    this.#scrolled.push(...this.#answer.advance(this.#columns));
    const scrolled = this.#scrolled;
    this.#scrolled = [];
    if (isLast) return this.#region.draw(scrolled, []);
    if (!this.#hasPrompt) return this.#region.draw(scrolled, this.#runLines());
    const { lines, cursor } = this.#composed();
    this.#region.draw(scrolled, lines, cursor);
  }

  /** The region without a prompt: the newest text, and the plan below it. */
  #runLines(): Harmless[] {
    if (this.#view === EMPTY_VIEW) return [];
    const height = Math.max(2, this.#options.terminal.stdout.rows || 24);
    const rows = Math.max(1, Math.min(Math.floor(height * 0.6), height - 3));
    const tail = this.#answer.tail(this.#columns).map((line) => fit(line, this.#columns));
    // Lines above the top of the terminal cannot be erased, so the first ones are left out.
    return [...tail, shown``, ...this.#plan(rows)].slice(1 - height);
  }

  #plan(rows: number): Harmless[] {
    const { paint, prices } = this.#options;
    return frame(this.#view, { columns: this.#columns, rows, now: this.#now, paint, prices: prices?.() });
  }

  /** Composes the region from the bottom up: the prompt always fits, the newest text is cut first. */
  #composed(): { lines: Harmless[]; cursor: CursorPlace } {
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

/**
 * Whether to call a user who looks elsewhere: for the first open question, and at the end of a long run that they did
 * not stop.
 */
function needsPerson(event: RunEvent, { startedAt, asked }: RunView): boolean {
  if (event.type === "question") return asked.size === 1;
  return event.type === "run-end" && event.outcome !== "interrupted" && event.at - startedAt >= LONG_RUN_MS;
}

function afterQuiet(callback: () => void): () => void {
  const timer = setTimeout(callback, QUIET_MS);
  return () => clearTimeout(timer);
}

/** Creates the display that suits a terminal. */
export function displayFor(
  options: LiveDisplayOptions & { terminal: Terminal },
  isPlain: boolean | undefined = false,
): Display {
  const { terminal } = options;
  return isPlain || !isLive(terminal) || !terminal.stdout.columns
    ? new PlainDisplay(terminal)
    : new LiveDisplay(options);
}
