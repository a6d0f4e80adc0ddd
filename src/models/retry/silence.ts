import { HarnessError } from "../../errors.ts";

/** Aborts a request if the server is silent for too long. Time without a pending read does not count. */
export class Silence {
  readonly #controller = new AbortController();
  readonly #limit: number;
  readonly #url: string;

  constructor(limit: number, url: string) {
    this.#limit = Math.min(limit, LONGEST);
    this.#url = url;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async limit<T>(answer: Promise<T>): Promise<T> {
    const message = `${this.#url} was silent for ${this.#limit / 1000} s.`;
    const timer = setTimeout(
      () => this.#controller.abort(new HarnessError("no-answer", message)),
      this.#limit,
    );
    try {
      return await answer;
    } finally {
      clearTimeout(timer);
    }
  }
}

const LONGEST = 2 ** 31 - 1;
