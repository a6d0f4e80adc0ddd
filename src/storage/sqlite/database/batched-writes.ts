import type { Connection } from "./connection.ts";

interface QueuedWrite {
  work: () => unknown;
  resolve: (result: unknown) => void;
  reject: (error: unknown) => void;
}

/** The largest number of writes in one transaction: other processes also write, and the event loop must turn. */
const MAX_BATCH = 64;

/**
 * Runs the writes of one turn of the event loop in one transaction, in the order of the calls: the beginning and commit of
 * a transaction take longer than most writes, and many threads are active at once.
 */
export class BatchedWrites {
  readonly #connection: Connection;
  readonly #onRollback: () => void;
  #queue: QueuedWrite[] = [];
  #last: Promise<unknown> = Promise.resolve();

  /** `onRollback` is called after every failed transaction, before the rest of its writes are run again. */
  constructor(connection: Connection, onRollback: () => void) {
    this.#connection = connection;
    this.#onRollback = onRollback;
  }

  /** Resolves when the write is committed. `work` is run again when another write of the batch fails. */
  add<T>(work: () => T): Promise<T> {
    if (this.#queue.length === 0) setImmediate(() => this.#runBatch());
    return this.#enqueue(work);
  }

  /** Commits the write and all queued ones before the call returns. */
  runNow<T>(work: () => T): Promise<T> {
    const result = this.#enqueue(work);
    this.flush();
    return result;
  }

  /**
   * Resolves when all queued writes are committed or have failed. Readers wait for it, because LangGraph reads without
   * waiting for each write.
   */
  async settled(): Promise<void> {
    if (this.#queue.length > 0) await this.#last.catch(() => {});
  }

  /** Commits all queued writes before the call returns. */
  flush(): void {
    while (this.#queue.length > 0) this.#run(this.#queue.splice(0, MAX_BATCH));
  }

  #enqueue<T>(work: () => T): Promise<T> {
    const result = new Promise<unknown>((resolve, reject) => {
      this.#queue.push({ work, resolve, reject });
    });
    this.#last = result;
    return result as Promise<T>;
  }

  #runBatch(): void {
    this.#run(this.#queue.splice(0, MAX_BATCH));
    if (this.#queue.length > 0) setImmediate(() => this.#runBatch());
  }

  /** A write that fails is left out, and the others are run again without it. */
  #run(batch: readonly QueuedWrite[]): void {
    for (let left = batch; left.length > 0;) {
      let current: QueuedWrite | undefined;
      try {
        const results = this.#connection.transaction(() => {
          const all = left.map((write) => (current = write).work());
          current = undefined;
          return all;
        });
        for (const [index, { resolve }] of left.entries()) resolve(results[index]);
        return;
      } catch (error) {
        this.#onRollback();
        // Without a current write the commit itself has failed, and with it all writes.
        const failed = current ? [current] : left;
        for (const { reject } of failed) reject(error);
        left = left.filter((write) => !failed.includes(write));
      }
    }
  }
}
