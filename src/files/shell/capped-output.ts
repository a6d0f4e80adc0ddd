import { AsyncLocalStorage } from "node:async_hooks";

/** Keeps the head and the tail of a stream of text, whatever its length, and says what fell out between. */
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
    // Once something is in the tail the head is closed, or the order would be lost.
    const toHead = this.#tail === "" && room > 0 ? text.slice(0, room) : "";
    this.#head += toHead;
    this.#tail += text.slice(toHead.length);
    // Trimming now and then costs less than with every piece.
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

/** The output of the command that a call runs, for whoever wants to know how far it has come. */
export interface CommandOutput {
  printed?: () => string;
}

export const commandOutput = new AsyncLocalStorage<CommandOutput>();
