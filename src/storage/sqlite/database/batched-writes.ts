import type { Connection } from "./connection.ts";

interface Waiting {
  work: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** In one transaction at most: others want to write, and the event loop to turn. */
const MOST = 64;

/**
 * Saves what is asked for in one turn of the event loop in one transaction, in the order of the calls: to begin and to
 * end one takes longer than most of what is done in it, and many threads are at work at once.
 */
export class Together {
  readonly #connection: Connection;
  readonly #onUndone: () => void;
  #waiting: Waiting[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** `onUndone` hears of every transaction that failed, before what is left of it is done again. */
  constructor(connection: Connection, onUndone: () => void) {
    this.#connection = connection;
    this.#onUndone = onUndone;
  }

  /** Resolves when it is saved. All or nothing, and done again where another has failed: it may be called twice. */
  save<T>(work: () => T): Promise<T> {
    if (this.#waiting.length === 0) setImmediate(() => this.#saveSome());
    return this.#ask(work);
  }

  /** Saves it before the call returns, with what waits. */
  now<T>(work: () => T): Promise<T> {
    const saved = this.#ask(work);
    this.flush();
    return saved;
  }

  /**
   * Resolves when all is saved, or has failed, that has been asked for. Who reads waits for it: LangGraph does not wait
   * for each write before it looks at them.
   */
  async settled(): Promise<void> {
    if (this.#waiting.length > 0) await this.#last.catch(() => {});
  }

  /** Saves at once what waits. */
  flush(): void {
    while (this.#waiting.length > 0) this.#save(this.#waiting.splice(0, MOST));
  }

  #ask<T>(work: () => T): Promise<T> {
    const saved = new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ work, resolve, reject });
    });
    this.#last = saved;
    return saved as Promise<T>;
  }

  #saveSome(): void {
    this.#save(this.#waiting.splice(0, MOST));
    if (this.#waiting.length > 0) setImmediate(() => this.#saveSome());
  }

  /** One that fails is left out, and the others are done again without it. */
  #save(all: readonly Waiting[]): void {
    for (let left = all; left.length > 0;) {
      let at: Waiting | undefined;
      try {
        const results = this.#connection.transaction(() => {
          const made = left.map((one) => (at = one).work());
          at = undefined;
          return made;
        });
        for (const [index, { resolve }] of left.entries()) resolve(results[index]);
        return;
      } catch (error) {
        this.#onUndone();
        // Where none was at work it is the file that fails, for all.
        const failed = at ? [at] : left;
        for (const { reject } of failed) reject(error);
        left = left.filter((one) => !failed.includes(one));
      }
    }
  }
}
