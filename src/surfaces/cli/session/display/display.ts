import type { RunEvent } from "../../../../threads/events/index.ts";
import type { RunView } from "../../../../threads/view/index.ts";
import type { Harmless } from "../../output/index.ts";
import type { Suggestion } from "../prompt/suggestions.ts";

/** The user's actions in a session. */
export interface SessionActions {
  submit: (text: string) => void;
  /** Enter on an empty line while the agent works: hands queued messages to its next model call. */
  steer: () => void;
  /** Esc or Ctrl-C while the agent works. */
  stop: () => void;
  quit: () => void;
  nextMode: () => void;
  /** Ctrl-V: saves the image on the clipboard; undefined if there is none. */
  pastedImage: () => Promise<string | undefined>;
  /** Ctrl-O: prints the last call or thoughts in full. */
  unfold: () => void;
  /** Takes back the last queued message; undefined if there is none. */
  unqueue: () => string | undefined;
}

/** The part of a session that is always visible. */
export interface Status {
  isBusy: boolean;
  /** Messages to send; `isOnItsWay` for those that the next model call will include. */
  queue: readonly { text: string; isOnItsWay: boolean }[];
  footer: Harmless;
}

export interface QuestionChoice {
  value: string;
  label: Harmless;
  /** A letter that selects it, displayed instead of its number. */
  key?: string;
}

export interface DisplayQuestion {
  /** The subject of the question, which stays on the screen. */
  about: readonly Harmless[];
  question: Harmless;
  choices: readonly QuestionChoice[];
  /** Whether no choice is preselected, so that Enter alone chooses nothing. */
  isDeliberate?: boolean;
  /** A prompt for typed words; absent if only choices are an answer. */
  words?: Harmless;
}

/** A choice or typed words. Undefined if the user dismisses the question. */
export type DisplayAnswer = { value: string } | { words: string } | undefined;

/** The output and input of a session: drawn on a terminal, or in plain lines. */
export interface Display {
  open: (actions: SessionActions) => void;
  /** Prints lines, which stay on the screen. */
  print: (lines: readonly Harmless[]) => void;
  show: (event: RunEvent, view: RunView) => void;
  status: (status: Status) => void;
  /** Asks a question, after those that are open. */
  ask: (question: DisplayQuestion) => Promise<DisplayAnswer>;
  /** Dismisses all questions unanswered. */
  dismiss: () => void;
  /** Inserts a text into the prompt, before the current draft. */
  draft: (text: string) => void;
  /** Releases the terminal while `work` runs, such as for an editor. */
  lend: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

/** Completions for the prompt. Default: none. */
export interface DisplayOptions {
  commands?: () => readonly Suggestion[];
  files?: () => readonly string[];
}
