/** Whoever has kept the process busy for so long waits for others; those who waited, for at most as long as this. */
const [BUSY_MS, MOST_MS] = [10, 15];

/**
 * Lets the event loop turn while many threads are started in one process. What LangGraph does after it has read a
 * thread is a chain of promises, and a thousand of them leave no room for timers and sockets. Those who wait go on one
 * by one, and the event loop turns when they have kept the process busy for as long as all others have, or for too long.
 */
export class Turns {
  #since = 0;
  #most = BUSY_MS;
  readonly #waiting: (() => void)[] = [];
  #isServing = false;

  /** Resolves at once, unless the process has been busy for a while. */
  async pass(): Promise<void> {
    if (this.#waiting.length === 0 && performance.now() - this.#since < BUSY_MS) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isServing) this.#turn();
    });
  }

  #turn(): void {
    this.#isServing = true;
    const asked = performance.now();
    setImmediate(() => {
      this.#since = performance.now();
      // As long as all others took: else those who wait would stand behind those who work for longer the more there are.
      this.#most = Math.min(MOST_MS, Math.max(BUSY_MS, this.#since - asked));
      this.#next();
    });
  }

  #next(): void {
    this.#waiting.shift()!();
    // Behind the chain of who goes on now: a tick comes when no promise is left to go on.
    queueMicrotask(() => process.nextTick(() => this.#goOn()));
  }

  #goOn(): void {
    if (this.#waiting.length === 0) this.#isServing = false;
    else if (performance.now() - this.#since < this.#most) this.#next();
    else this.#turn();
  }
}
