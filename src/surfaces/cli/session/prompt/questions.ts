import { harmless, shown, type Harmless } from "../../output/index.ts";
import type { Answered, Asked, QuestionChoice } from "../display/display.ts";

interface QueuedQuestion {
  asked: Asked;
  resolve: (answer: Answered) => void;
}

/** The queue of questions to a person: the next is shown when the one before it has its answer. */
export class Questions {
  readonly #show: (asked: Asked) => void;
  #queue: QueuedQuestion[] = [];

  constructor(show: (asked: Asked) => void) {
    this.#show = show;
  }

  /** The question that is shown. */
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

  /** Removes all questions, unanswered. */
  dismiss(): void {
    for (const { resolve } of this.#queue.splice(0)) resolve(undefined);
  }
}

/** A choice with the key that chooses it. */
export function choiceLine({ label, key }: QuestionChoice, at: number): Harmless {
  return shown`${key === undefined ? at + 1 : harmless(key)}. ${label}`;
}

/** The choice that a number or a key stands for. */
export function choiceFor({ choices }: Asked, text: string): QuestionChoice | undefined {
  if (/^[1-9]\d*$/.test(text)) return choices[Number(text) - 1];
  return choices.find(({ key }) => key !== undefined && key === text.toLowerCase());
}
