import type { LiveCall } from "../connection/live-call.ts";

/** The time for a person's answer; after it the call is made anew. */
const PATIENCE_MS = 15 * 60_000;

/** Calls that wait for a person while the run that made them is stopped. A run in another process makes them anew. */
export class WaitingCalls {
  readonly #calls = new Map<string, { live: LiveCall; timer: NodeJS.Timeout }>();

  keep(key: string, live: LiveCall): void {
    const timer = setTimeout(() => this.take(key)?.cancel(new Error("Nobody answered.")), PATIENCE_MS);
    this.#calls.set(key, { live, timer: timer.unref() });
  }

  /** The call, for whoever goes on with it. */
  take(key: string): LiveCall | undefined {
    const found = this.#calls.get(key);
    this.#calls.delete(key);
    clearTimeout(found?.timer);
    return found?.live;
  }
}
