/**
 * The promise of a save. LangGraph looks at what came of it at the end of a step, and until then Node takes a failure
 * for one that nobody looks at, and ends the process. Whoever goes on from this promise has been told.
 */
export class Save<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** Does the work at once. */
  static of<T>(work: () => T | Promise<T>): Save<T> {
    return new Save((resolve) => resolve(work()));
  }

  // oxlint-disable-next-line unicorn/no-thenable -- it is a promise, with the same contract
  override then<A = T, B = never>(
    onDone?: ((value: T) => A | PromiseLike<A>) | null,
    onFailure?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    const next = super.then(onDone, onFailure);
    next.catch(() => {});
    return next;
  }
}
