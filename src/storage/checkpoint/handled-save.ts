/**
 * The promise of a save whose failure is never unhandled. LangGraph awaits saves at the end of a step; until then Node
 * would take a failure for an unhandled rejection and end the process.
 */
export class HandledSave<T> extends Promise<T> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  static of<T>(work: () => T | Promise<T>): HandledSave<T> {
    return new HandledSave((resolve) => resolve(work()));
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
