import { mention } from "../../../../threads/run/index.ts";
import { oneLine, shown, type Harmless, type Paint } from "../../output/index.ts";
import type { DisplayAnswer, DisplayQuestion, DisplayOptions, SessionActions } from "../display/display.ts";
import type { History } from "./history.ts";
import type { Key } from "./keys.ts";
import { draftOf, edited, EMPTY_DRAFT, fullText, inserted, movedLine, type Draft } from "./line-editor.ts";
import { choiceFor, choiceLine, Questions } from "./questions.ts";
import { accepted, suggestionsFor, type Suggestions } from "./suggestions.ts";

export interface PromptKeysOptions extends DisplayOptions {
  history: History;
  /** Calls back after a time without keys. Returns a function that cancels. */
  onQuiet: (callback: () => void) => () => void;
  /** A question is displayed. */
  onAsk: (question: DisplayQuestion) => void;
  onSuspend: () => void;
  onRedraw: () => void;
  /** The draft changed without a key. */
  onChange: () => void;
}

/** The most choices displayed at once. */
const MAX_CHOICES = 9;

interface OpenQuestion extends DisplayQuestion {
  /** -1 for none. */
  selected: number;
  /** Whether keys answer it. Keys that were typed before the question was visible, or as part of a message, do not. */
  isArmed: boolean;
  stopWaiting?: () => void;
}

/** Words that users answer a question with; alone they are hardly ever a message to an agent at work. */
const SHORT_ANSWER = /^(?:\d{1,2}|[yn]|yes|no)$/i;

/**
 * Handles keys: edits the draft, answers questions, calls the session's actions. Drops no typed text but a short answer
 * that was sent before its question could be read.
 */
export class PromptKeys {
  draft: Draft = EMPTY_DRAFT;
  isBusy = false;
  /** Whether a message waits for the agent at work. */
  hasQueue = false;
  actions: SessionActions | undefined;
  readonly #options: Required<PromptKeysOptions>;
  readonly #questions = new Questions((question) => this.#show(question));
  #open: OpenQuestion | undefined;
  #suggestions: Suggestions | undefined;
  #suggestionIndex = 0;
  #isLeaving = false;
  /** Cancels the wait of a short answer in the draft that Enter has sent; a question that appears meanwhile drops it. */
  #stopHolding: (() => void) | undefined;

  constructor(options: PromptKeysOptions) {
    this.#options = { commands: () => [], files: () => [], ...options };
  }

  /** Inserts a text before the draft. */
  put(text: string): void {
    const { draft } = this;
    const start = draft.text === "" ? text : `${text}\n`;
    this.draft = { ...draft, text: start + draft.text, cursor: start.length + draft.cursor };
  }

  ask(question: DisplayQuestion): Promise<DisplayAnswer> {
    return this.#questions.ask(question);
  }

  dismiss(): void {
    this.#close();
    this.#questions.dismiss();
  }

  get hint(): Harmless {
    if (this.#open?.isArmed) return this.#open.words ?? shown`↑ ↓ and Enter, or its number`;
    if (this.#open) return shown``;
    if (this.#isLeaving) return shown`Ctrl-C again leaves`;
    if (!this.isBusy) return shown`what shall be done? / for commands, @ for files`;
    return this.hasQueue
      ? shown`Enter hands the queue to the agent at its next call; ↑ takes it back; Esc stops`
      : shown`type ahead; Esc stops`;
  }

  /** Renders the open question. Starts the time without keys after which keys answer it. */
  above(paint: Paint): Harmless[] {
    const open = this.#open;
    if (!open) return [];
    const { question, choices, selected, isArmed } = open;
    if (!isArmed && this.draft.text === "") {
      open.stopWaiting ??= this.#options.onQuiet(() => {
        open.isArmed = true;
      });
    }
    const lines = choices.map((choice, at) => {
      const text = choiceLine(choice, at);
      return at === selected && isArmed ? paint("cyan", shown`❯ ${text}`) : shown`  ${text}`;
    });
    const from = Math.max(0, Math.min(selected - Math.floor(MAX_CHOICES / 2), lines.length - MAX_CHOICES));
    const rest = lines.length - MAX_CHOICES;
    const more = rest > 0 ? [paint("dim", shown`  ${rest} more with ↑ ↓`)] : [];
    return [paint("bold", question), ...lines.slice(from, from + MAX_CHOICES), ...more];
  }

  /** Renders the suggestions at the cursor. */
  below(paint: Paint, height: number): Harmless[] {
    const list = this.#suggestions?.list ?? [];
    return list.slice(0, Math.max(0, Math.min(8, height - 6))).map(({ text, about = "" }, at) => {
      const line = shown`  ${oneLine(text)}  ${oneLine(about)}`;
      return at === this.#suggestionIndex ? paint("cyan", line) : paint("dim", line);
    });
  }

  press(key: Key): void {
    this.#submitHeld();
    this.#open?.stopWaiting?.();
    if (this.#open) this.#open.stopWaiting = undefined;
    const name = key.type === "key" ? key.name : "";
    const isLeaving = this.#isLeaving;
    this.#isLeaving = false;
    if (name === "ctrl-c" || name === "escape") return this.#interrupt(name, isLeaving);
    if (name === "ctrl-d" && this.draft.text === "") return this.actions?.quit();
    if (name === "ctrl-z") return this.#options.onSuspend();
    if (name === "ctrl-l") return this.#options.onRedraw();
    if (name === "ctrl-v") return void this.#pasteImage();
    if (name === "ctrl-o") return this.actions?.unfold();
    if (name === "shift-tab") return this.actions?.nextMode();
    if (this.#open && this.draft.text === "" && this.#choose(this.#open, key)) return;
    if (name === "tab") return this.#complete();
    if (name === "enter") return this.#enter();
    if (name === "up" || name === "down") return this.#vertical(name === "up" ? -1 : 1);
    const draft = edited(this.draft, key);
    if (!draft) return;
    this.#edit(draft);
    this.#options.history.reset();
  }

  #edit(draft: Draft): void {
    this.draft = draft;
    this.#suggestionIndex = 0;
    this.#suggestions = suggestionsFor(draft, {
      commands: this.#options.commands(),
      files: this.#options.files,
    });
  }

  async #pasteImage(): Promise<void> {
    const path = await this.actions?.pastedImage();
    if (path === undefined) return;
    const before = this.draft.text.slice(0, this.draft.cursor);
    this.draft = inserted(this.draft, `${/\S$/.test(before) ? " " : ""}${mention(path)} `);
    this.#options.onChange();
  }

  #clear(): void {
    this.draft = EMPTY_DRAFT;
    this.#suggestions = undefined;
  }

  #interrupt(name: string, wasLeaving: boolean): void {
    if (name === "escape" && this.#suggestions) {
      this.#suggestions = undefined;
    } else if (this.isBusy) {
      this.dismiss();
      this.actions?.stop();
    } else if (this.#open) {
      this.dismiss();
    } else if (this.draft.text !== "") {
      if (name === "escape") return;
      // The history keeps it: the arrow key brings it back.
      this.#options.history.add(fullText(this.draft));
      this.#clear();
    } else if (name === "ctrl-c") {
      if (wasLeaving) this.actions?.quit();
      this.#isLeaving = true;
    }
  }

  /** Handles a key for the open question. False if the key is not for it. */
  #choose(open: OpenQuestion, key: Key): boolean {
    const { choices, selected } = open;
    const name = key.type === "key" ? key.name : "";
    if (!open.isArmed) return ["up", "down", "enter"].includes(name);
    if (name === "up" || name === "down") {
      const { length } = choices;
      open.selected =
        name === "down" ? (selected + 1) % length : (Math.max(selected, 0) + length - 1) % length;
      return true;
    }
    if (name === "enter") {
      const choice = choices[selected];
      if (choice) this.#answer({ value: choice.value });
      return true;
    }
    const choice = key.type === "text" ? choiceFor(open, key.text) : undefined;
    // With more than nine choices a digit may begin a number, which Enter ends.
    if (!choice || choices.length > 9) return false;
    const answer = (): void => this.#answer({ value: choice.value });
    if (open.words) this.#delayKey(open, (key as { text: string }).text, answer);
    else answer();
    return true;
  }

  /** A key may be the start of typed words. It counts as a choice if no other key follows soon, or Enter does. */
  #delayKey(open: OpenQuestion, text: string, answer: () => void): void {
    this.#edit(draftOf(text));
    open.stopWaiting = this.#options.onQuiet(() => {
      if (this.draft.text !== text) return;
      this.#clear();
      answer();
    });
  }

  #show(question: DisplayQuestion): void {
    if (this.#stopHolding) {
      this.#release();
      this.#clear();
    }
    this.#open = { ...question, selected: question.isDeliberate ? -1 : 0, isArmed: false };
    this.#options.onAsk(question);
  }

  #close(): void {
    this.#open?.stopWaiting?.();
    this.#open = undefined;
  }

  #answer(answer: DisplayAnswer): void {
    this.#close();
    this.#questions.answer(answer);
  }

  #complete(): void {
    const suggestion = this.#suggestions?.list[this.#suggestionIndex];
    if (suggestion) this.#edit(accepted(this.draft, this.#suggestions!.from, suggestion));
  }

  #enter(): void {
    const { text, cursor } = this.draft;
    const suggestion = this.#suggestions?.list[this.#suggestionIndex];
    // Enter accepts a suggestion, unless the command or path is already typed in full.
    if (suggestion && !text.slice(0, cursor).endsWith(suggestion.text)) return this.#complete();
    if (text.slice(0, cursor).endsWith("\\")) {
      const start = text.slice(0, cursor - 1);
      return this.#edit({ ...this.draft, text: `${start}\n${text.slice(cursor)}` });
    }
    const words = fullText(this.draft).trim();
    if (words === "") {
      if (this.isBusy) this.actions?.steer();
      return;
    }
    const open = this.#open;
    const hasCommands = this.#options.commands().length > 0;
    // Without commands only the question takes input: words that were typed ahead stay until it is armed.
    if (open && !open.isArmed && !hasCommands) return;
    const isShort = SHORT_ANSWER.test(words);
    if (open && !open.isArmed && (isShort || choiceFor(open, words))) return this.#clear();
    if (!open && this.isBusy && isShort) {
      this.#stopHolding = this.#options.onQuiet(() => {
        this.#submitHeld();
        this.#options.onChange();
      });
      return;
    }
    this.#options.history.add(words);
    this.#clear();
    const choice = open?.isArmed ? choiceFor(open, words) : undefined;
    if (choice) return this.#answer({ value: choice.value });
    if (open?.isArmed && open.words && !(hasCommands && words.startsWith("/")))
      return this.#answer({ words });
    this.actions?.submit(words);
  }

  /** Sends a short answer for which no question appeared. */
  #submitHeld(): void {
    if (!this.#stopHolding) return;
    this.#release();
    const words = fullText(this.draft).trim();
    this.#options.history.add(words);
    this.#clear();
    this.actions?.submit(words);
  }

  #release(): void {
    this.#stopHolding?.();
    this.#stopHolding = undefined;
  }

  #vertical(by: -1 | 1): void {
    if (this.#suggestions) {
      const { length } = this.#suggestions.list;
      this.#suggestionIndex = (this.#suggestionIndex + by + length) % length;
      return;
    }
    const draft = movedLine(this.draft, by);
    if (draft) {
      this.draft = draft;
      return;
    }
    const queued = by < 0 && this.draft.text === "" ? this.actions?.unqueue() : undefined;
    const text = queued ?? this.#options.history.move(by, fullText(this.draft));
    if (text !== undefined) this.draft = draftOf(text);
  }
}
