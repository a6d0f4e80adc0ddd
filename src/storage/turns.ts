/** Whoever has kept the process busy for so long waits for others. */
const BUSY_MS = 10;

/**
 * Lets the event loop turn while many threads are started in one process. What LangGraph does after it has read a
 * thread is a chain of promises, and a thousand of them leave no room for timers and sockets. Those who wait go on one
 * by one, with a turn of the event loop after each.
 */
export class Turns {
  #since = 0;
  readonly #waiting: (() => void)[] = [];

  /** Resolves at once, unless the process has been busy for a while. */
  async pass(): Promise<void> {
    if (this.#waiting.length === 0 && performance.now() - this.#since < BUSY_MS) return;
    await new Promise<void>((resolve) => {
      if (this.#waiting.push(resolve) === 1) setImmediate(() => this.#next());
    });
  }

  #next(): void {
    this.#since = performance.now();
    this.#waiting.shift()!();
    if (this.#waiting.length > 0) setImmediate(() => this.#next());
  }
}
