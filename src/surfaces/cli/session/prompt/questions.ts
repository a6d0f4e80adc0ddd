import { harmless, shown, type Harmless } from "../../output/index.ts";
import type { DisplayAnswer, DisplayQuestion, QuestionChoice } from "../display/display.ts";

interface QueuedQuestion {
  question: DisplayQuestion;
  resolve: (answer: DisplayAnswer) => void;
}

/** A queue of questions to the user. The next one is displayed when the previous one is answered. */
export class Questions {
  readonly #show: (question: DisplayQuestion) => void;
  #queue: QueuedQuestion[] = [];

  constructor(show: (question: DisplayQuestion) => void) {
    this.#show = show;
  }

  /** The displayed question. */
  get open(): DisplayQuestion | undefined {
    return this.#queue[0]?.question;
  }

  ask(question: DisplayQuestion): Promise<DisplayAnswer> {
    return new Promise((resolve) => {
      this.#queue.push({ question, resolve });
      if (this.#queue.length === 1) this.#show(question);
    });
  }

  answer(answer: DisplayAnswer): void {
    this.#queue.shift()?.resolve(answer);
    if (this.open) this.#show(this.open);
  }

  /** Dismisses all questions unanswered. */
  dismiss(): void {
    for (const { resolve } of this.#queue.splice(0)) resolve(undefined);
  }
}

/** A choice with the number or key that selects it. */
export function choiceLine({ label, key }: QuestionChoice, at: number): Harmless {
  return shown`${key === undefined ? at + 1 : harmless(key)}. ${label}`;
}

/** The choice that a number or a key selects. */
export function choiceFor({ choices }: DisplayQuestion, text: string): QuestionChoice | undefined {
  if (/^[1-9]\d*$/.test(text)) return choices[Number(text) - 1];
  return choices.find(({ key }) => key !== undefined && key === text.toLowerCase());
}
