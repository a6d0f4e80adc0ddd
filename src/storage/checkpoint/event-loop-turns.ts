/** The time after which a caller has to wait for a turn, and the longest time slice of waiting callers. */
const [BUSY_MS, MAX_SLICE_MS] = [10, 15];

/**
 * Lets the event loop turn while many threads are started in one process. After reading a thread LangGraph runs a chain
 * of promises, and a thousand of these starve timers and sockets. Callers that wait are resumed one by one, in time
 * slices as long as the turn of the event loop before, within bounds.
 */
export class EventLoopTurns {
  #since = 0;
  #sliceMs = BUSY_MS;
  readonly #waiting: (() => void)[] = [];
  #isServing = false;

  /** Resolves at once, unless the process has been busy for a while. */
  async yieldIfBusy(): Promise<void> {
    if (this.#waiting.length === 0 && performance.now() - this.#since < BUSY_MS) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isServing) this.#turnEventLoop();
    });
  }

  #turnEventLoop(): void {
    this.#isServing = true;
    const start = performance.now();
    setImmediate(() => {
      this.#since = performance.now();
      // As long as the other work took: with a fixed slice the queue would fall behind when there is much of it.
      this.#sliceMs = Math.min(MAX_SLICE_MS, Math.max(BUSY_MS, this.#since - start));
      this.#resumeNext();
    });
  }

  #resumeNext(): void {
    this.#waiting.shift()!();
    // Continues after the resumed chain: a tick runs when no promise is left to resolve.
    queueMicrotask(() => process.nextTick(() => this.#continue()));
  }

  #continue(): void {
    if (this.#waiting.length === 0) this.#isServing = false;
    else if (performance.now() - this.#since < this.#sliceMs) this.#resumeNext();
    else this.#turnEventLoop();
  }
}
