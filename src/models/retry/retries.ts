import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";

/** The custom LangChain event for a retry of a model call. */
export const MODEL_RETRY = "model-retry";

/** Details of a retry. The answer starts again: earlier pieces of it are void. */
export interface ModelRetry {
  /** Seconds until the retry. */
  seconds: number;
  reason: string;
}

/** The retries of a model call: one limit for requests and streams. */
export class Retries {
  readonly #most: number;
  readonly #config: RunnableConfig | undefined;
  #used = 0;

  constructor(most: number, config?: RunnableConfig) {
    this.#most = most;
    this.#config = config;
  }

  get areLeft(): boolean {
    return this.#used < this.#most;
  }

  /** The signal that cancels the call. */
  get signal(): AbortSignal | undefined {
    return this.#config?.signal;
  }

  /** Reports a retry and waits: as long as the server requests, or longer each time. Throws when aborted. */
  async wait(
    reason: string,
    { requestedWait, signal }: { requestedWait?: number; signal?: AbortSignal | null },
  ): Promise<void> {
    const wait = requestedWait ?? backoff(this.#used);
    this.#used += 1;
    const retry: ModelRetry = {
      seconds: Math.ceil(wait / 100) / 10,
      reason: requestedWait === undefined ? reason : `${reason}; the server asks to wait`,
    };
    const { dispatchCustomEvent } = await import("@langchain/core/callbacks/dispatch");
    // Fails outside of a run, where there are no listeners.
    await dispatchCustomEvent(MODEL_RETRY, retry, this.#config).catch(() => {});
    await sleep(wait, undefined, signal ? { signal } : {});
  }
}

/**
 * The retries of the current model call. An async context, because LangChain's clients do not pass the call to their
 * `fetch`, and one model serves many runs at once.
 */
export const retries = new AsyncLocalStorage<Retries>();

/** Joins the signals of a request and its call, as some clients do not pass on the latter. */
export function withSignal(...signals: (AbortSignal | null | undefined)[]): { signal?: AbortSignal } {
  const [first, second] = signals.filter((signal) => signal instanceof AbortSignal);
  return first ? { signal: second ? AbortSignal.any([first, second]) : first } : {};
}

/** One second, then twice as long each time, with jitter. */
function backoff(attempt: number): number {
  return Math.min(1000 * 2 ** attempt, 16_000) * (0.75 + Math.random() / 2);
}

/** A longer requested wait counts as a refusal. */
export const LONGEST_WAIT = 60_000;

/** The wait in milliseconds that a response's headers request. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const wait = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
