import { harmless, shown, type Harmless } from "../../output/index.ts";
import type { Answered, Asked, QuestionChoice } from "../display/display.ts";

interface QueuedQuestion {
  asked: Asked;
  resolve: (answer: Answered) => void;
}

/** A queue of questions to a person. The next one is displayed when the previous one is answered. */
export class Questions {
  readonly #show: (asked: Asked) => void;
  #queue: QueuedQuestion[] = [];

  constructor(show: (asked: Asked) => void) {
    this.#show = show;
  }

  /** The displayed question. */
  get open(): Asked | undefined {
    return this.#queue[0]?.asked;
  }

  ask(asked: Asked): Promise<Answered> {
    return new Promise((resolve) => {
      this.#queue.push({ asked, resolve });
      if (this.#queue.length === 1) this.#show(asked);
    });
  }

  answer(answer: Answered): void {
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
export function choiceFor({ choices }: Asked, text: string): QuestionChoice | undefined {
  if (/^[1-9]\d*$/.test(text)) return choices[Number(text) - 1];
  return choices.find(({ key }) => key !== undefined && key === text.toLowerCase());
}
