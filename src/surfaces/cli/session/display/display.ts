import type { RunEvent } from "../../../../threads/events/index.ts";
import type { RunView } from "../../../../threads/view/index.ts";
import type { Harmless } from "../../output/index.ts";
import type { Suggestion } from "../prompt/suggestions.ts";

/** A person's actions in a session. */
export interface SessionActions {
  /** A message or a command was typed. */
  submit: (text: string) => void;
  /** Enter on an empty line while the agent works: what waits is for its next call. */
  steer: () => void;
  /** Esc or Ctrl-C while the agent works. */
  stop: () => void;
  quit: () => void;
  nextMode: () => void;
  /** Ctrl-V: the file with the image on the clipboard; undefined when there is none. */
  pastedImage: () => Promise<string | undefined>;
  /** The last call in full. */
  unfold: () => void;
  /** The message that was queued last, to be edited; undefined when there is none. */
  unqueue: () => string | undefined;
}

/** The part of a session that is always visible. */
export interface Status {
  isBusy: boolean;
  /** Messages to be sent; `isOnItsWay` for those that the agent reads in its next call. */
  queue: readonly { text: string; isOnItsWay: boolean }[];
  footer: Harmless;
}

export interface QuestionChoice {
  value: string;
  label: Harmless;
  /** A letter that chooses it wherever it stands, shown in the place of its number. */
  key?: string;
}

export interface Asked {
  /** The subject of the question, printed for good. */
  about: readonly Harmless[];
  question: Harmless;
  choices: readonly QuestionChoice[];
  /** Whether Enter alone chooses nothing: one of them has to be gone to, or named. */
  isDeliberate?: boolean;
  /** The meaning of typed words, if they are an answer. */
  words?: Harmless;
}

/** An answer: one of the choices, or words. Undefined when the person would rather not. */
export type Answered = { value: string } | { words: string } | undefined;

/** The look of a session: drawn on a terminal, or as plain lines. */
export interface Display {
  open: (actions: SessionActions) => void;
  /** Writes lines for good. */
  print: (lines: readonly Harmless[]) => void;
  show: (event: RunEvent, view: RunView) => void;
  status: (status: Status) => void;
  /** Puts a question, after those that are open. */
  ask: (asked: Asked) => Promise<Answered>;
  /** Takes all questions away, unanswered. */
  dismiss: () => void;
  /** Puts a text into the prompt, before what is being written there. */
  draft: (text: string) => void;
  /** Leaves the terminal to another program. */
  lend: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
}

export interface DisplayOptions {
  commands: () => readonly Suggestion[];
  files: () => readonly string[];
}
