import { AsyncLocalStorage } from "node:async_hooks";

/** Keeps the head and the tail of a stream of text, with a note on what was dropped in between. */
export class CappedOutput {
  readonly #half: number;
  #head = "";
  #tail = "";
  #dropped = 0;

  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  push(text: string): void {
    const room = this.#half - this.#head.length;
    // Once the tail has text, the head is closed, to keep the order.
    const toHead = this.#tail === "" && room > 0 ? text.slice(0, room) : "";
    this.#head += toHead;
    this.#tail += text.slice(toHead.length);
    // Trimming at intervals costs less than with every piece.
    if (this.#tail.length > this.#half * 2) this.#trim();
  }

  get truncated(): boolean {
    return this.#dropped > 0 || this.#tail.length > this.#half;
  }

  toString(): string {
    this.#trim();
    if (this.#dropped === 0) return this.#head + this.#tail;
    return `${this.#head}\n[${this.#dropped} characters of output left out]\n${this.#tail}`.replaceAll(
      /\p{Cs}/gu,
      "",
    );
  }

  #trim(): void {
    const extra = this.#tail.length - this.#half;
    if (extra <= 0) return;
    this.#dropped += extra;
    this.#tail = this.#tail.slice(extra);
  }
}

/** Gives a caller of a command its output so far. */
export interface CommandOutput {
  printed?: () => string;
}

export const commandOutput = new AsyncLocalStorage<CommandOutput>();
