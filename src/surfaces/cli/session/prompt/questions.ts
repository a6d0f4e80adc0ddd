import { harmless, shown, type Harmless } from "../../output/harmless.ts";
import type { Answered, Asked, FaceChoice } from "../display/display.ts";

interface Waiting {
  asked: Asked;
  resolve: (answer: Answered) => void;
}

/** Questions to a person, one at a time: the next is put when the one before it has its answer. */
export class Questions {
  readonly #put: (asked: Asked) => void;
  #waiting: Waiting[] = [];

  constructor(put: (asked: Asked) => void) {
    this.#put = put;
  }

  /** The one that is put. */
  get open(): Asked | undefined {
    return this.#waiting[0]?.asked;
  }

  ask(asked: Asked): Promise<Answered> {
    return new Promise((resolve) => {
      this.#waiting.push({ asked, resolve });
      if (this.#waiting.length === 1) this.#put(asked);
    });
  }

  answer(answer: Answered): void {
    this.#waiting.shift()?.resolve(answer);
    if (this.open) this.#put(this.open);
  }

  /** Takes all of them away, unanswered. */
  dismiss(): void {
    for (const { resolve } of this.#waiting.splice(0)) resolve(undefined);
  }
}

/** A choice with the key that chooses it. */
export function choiceLine({ label, key }: FaceChoice, at: number): Harmless {
  return shown`${key === undefined ? at + 1 : harmless(key)}. ${label}`;
}

/** The choice that a number or a key stands for. */
export function choiceFor({ choices }: Asked, text: string): FaceChoice | undefined {
  if (/^[1-9]\d*$/.test(text)) return choices[Number(text) - 1];
  return choices.find(({ key }) => key !== undefined && key === text.toLowerCase());
}
