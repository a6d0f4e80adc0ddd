import type { Answered, Asked } from "../display/display.ts";

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
