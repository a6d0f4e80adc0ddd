import { mention } from "../../../../threads/run/index.ts";
import { oneLine, shown, type Harmless, type Paint } from "../../output/index.ts";
import type { Answered, Asked, DisplayOptions, SessionActions } from "../display/display.ts";
import type { History } from "./history.ts";
import type { Key } from "./keys.ts";
import { draftOf, edited, EMPTY_DRAFT, fullText, inserted, movedLine, type Draft } from "./line-editor.ts";
import { choiceFor, choiceLine, Questions } from "./questions.ts";
import { accepted, suggestionsFor, type Suggestions } from "./suggestions.ts";

export interface PromptKeysOptions extends DisplayOptions {
  history: History;
  /** Calls back after a moment without keys; what it returns calls it off. */
  onQuiet: (then: () => void) => () => void;
  /** A question is put. */
  onAsk: (asked: Asked) => void;
  onSuspend: () => void;
  onRedraw: () => void;
  /** The draft was changed by something else than a key. */
  onChange: () => void;
}

/** So many choices are shown at once. */
const AT_ONCE = 9;

interface Open extends Asked {
  /** -1 for none. */
  selected: number;
  /** Whether keys answer: not those that were on their way before it was seen, nor amid a message of its own. */
  isArmed: boolean;
  stopWaiting?: (() => void) | undefined;
}

/** Handles keys: edits the draft, makes choices, reports the person's actions. Loses nothing that was typed. */
export class PromptKeys {
  draft: Draft = EMPTY_DRAFT;
  isBusy = false;
  actions: SessionActions | undefined;
  readonly #options: PromptKeysOptions;
  readonly #questions = new Questions((asked) => this.#put(asked));
  #open: Open | undefined;
  #suggestions: Suggestions | undefined;
  #chosen = 0;
  #isLeaving = false;

  constructor(options: PromptKeysOptions) {
    this.#options = options;
  }

  /** Puts a text before what is being written. */
  put(text: string): void {
    const { draft } = this;
    const start = draft.text === "" ? text : `${text}\n`;
    this.draft = { ...draft, text: start + draft.text, cursor: start.length + draft.cursor };
  }

  /** Puts a question, after those that are open; keys choose until it is answered. */
  ask(asked: Asked): Promise<Answered> {
    return this.#questions.ask(asked);
  }

  /** Takes all questions away, unanswered. */
  dismiss(): void {
    this.#close();
    this.#questions.dismiss();
  }

  get hint(): Harmless {
    if (this.#open?.isArmed) return this.#open.words ?? shown`↑ ↓ and Enter, or its number`;
    if (this.#open) return shown``;
    if (this.#isLeaving) return shown`Ctrl-C again leaves`;
    return this.isBusy
      ? shown`type ahead; Esc stops`
      : shown`what shall be done? / for commands, @ for files`;
  }

  /** The open question, which is seen from now on. */
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
    const from = Math.max(0, Math.min(selected - Math.floor(AT_ONCE / 2), lines.length - AT_ONCE));
    const rest = lines.length - AT_ONCE;
    const more = rest > 0 ? [paint("dim", shown`  ${rest} more with ↑ ↓`)] : [];
    return [paint("bold", question), ...lines.slice(from, from + AT_ONCE), ...more];
  }

  /** Suggestions for the word at the cursor. */
  below(paint: Paint, height: number): Harmless[] {
    const list = this.#suggestions?.list ?? [];
    return list.slice(0, Math.max(0, Math.min(8, height - 6))).map(({ text, about = "" }, at) => {
      const line = shown`  ${oneLine(text)}  ${oneLine(about)}`;
      return at === this.#chosen ? paint("cyan", line) : paint("dim", line);
    });
  }

  press(key: Key): void {
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
    this.#chosen = 0;
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
      // It can be had back with the arrow.
      this.#options.history.add(fullText(this.draft));
      this.#clear();
    } else if (name === "ctrl-c") {
      if (wasLeaving) this.actions?.quit();
      this.#isLeaving = true;
    }
  }

  /** Whether the key was for the question. */
  #choose(open: Open, key: Key): boolean {
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
    // Where there are more than nine, a digit may begin a number, which Enter ends.
    if (!choice || choices.length > 9) return false;
    const answer = (): void => this.#answer({ value: choice.value });
    if (open.words) this.#holdKey(open, (key as { text: string }).text, answer);
    else answer();
    return true;
  }

  /** A key may begin a reason: it is a choice when nothing follows it for a moment, or Enter does. */
  #holdKey(open: Open, text: string, answer: () => void): void {
    this.#edit(draftOf(text));
    open.stopWaiting = this.#options.onQuiet(() => {
      if (this.draft.text !== text) return;
      this.#clear();
      answer();
    });
  }

  #put(asked: Asked): void {
    this.#open = { ...asked, selected: asked.isDeliberate ? -1 : 0, isArmed: false };
    this.#options.onAsk(asked);
  }

  #close(): void {
    this.#open?.stopWaiting?.();
    this.#open = undefined;
  }

  #answer(answer: Answered): void {
    this.#close();
    this.#questions.answer(answer);
  }

  #complete(): void {
    const suggestion = this.#suggestions?.list[this.#chosen];
    if (suggestion) this.#edit(accepted(this.draft, this.#suggestions!.from, suggestion));
  }

  #enter(): void {
    const { text, cursor } = this.draft;
    const suggestion = this.#suggestions?.list[this.#chosen];
    // What is chosen in a list is meant; a whole command or path is sent.
    if (suggestion && !text.slice(0, cursor).endsWith(suggestion.text)) return this.#complete();
    if (text.slice(0, cursor).endsWith("\\")) {
      const start = text.slice(0, cursor - 1);
      return this.#edit({ ...this.draft, text: `${start}\n${text.slice(cursor)}`, cursor: cursor });
    }
    const words = fullText(this.draft).trim();
    if (words === "") {
      if (this.isBusy) this.actions?.steer();
      return;
    }
    const open = this.#open;
    const hasCommands = this.#options.commands().length > 0;
    // Without commands there is nothing but the question: words that were typed ahead stay until it takes them.
    if (open && !open.isArmed && !hasCommands) return;
    this.#options.history.add(words);
    this.#clear();
    const choice = open?.isArmed ? choiceFor(open, words) : undefined;
    if (choice) return this.#answer({ value: choice.value });
    if (open?.isArmed && open.words && !(hasCommands && words.startsWith("/")))
      return this.#answer({ words });
    this.actions?.submit(words);
  }

  #vertical(by: -1 | 1): void {
    if (this.#suggestions) {
      const { length } = this.#suggestions.list;
      this.#chosen = (this.#chosen + by + length) % length;
      return;
    }
    const moved = movedLine(this.draft, by);
    if (moved) {
      this.draft = moved;
      return;
    }
    const queued = by < 0 && this.draft.text === "" ? this.actions?.unqueue() : undefined;
    const text = queued ?? this.#options.history.move(by, fullText(this.draft));
    if (text !== undefined) this.draft = draftOf(text);
  }
}
