import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunnableConfig } from "@langchain/core/runnables";

/** The custom event of LangChain's callbacks that says a model call is tried again. */
export const MODEL_RETRY = "model-retry";

/** Details of a retry. The answer begins anew: earlier pieces of it do not count. */
export interface ModelRetry {
  /** Seconds until the retry. */
  seconds: number;
  reason: string;
}

/** The retries of a model call: one limit for requests and streams, whatever fails. */
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

  /** Says why, and waits: as long as the server asks, or longer each time. Throws when the signal is aborted. */
  async wait(
    reason: string,
    { asked, signal }: { asked?: number | undefined; signal?: AbortSignal | null | undefined },
  ): Promise<void> {
    const wait = asked ?? backoff(this.#used);
    this.#used += 1;
    const retry: ModelRetry = {
      seconds: Math.ceil(wait / 100) / 10,
      reason: asked === undefined ? reason : `${reason}; the server asks to wait`,
    };
    const { dispatchCustomEvent } = await import("@langchain/core/callbacks/dispatch");
    // Fails outside of a run, where nobody listens.
    await dispatchCustomEvent(MODEL_RETRY, retry, this.#config).catch(() => {});
    await sleep(wait, undefined, signal ? { signal } : {});
  }
}

/**
 * The retries of the model call under way. LangChain's clients tell their `fetch` nothing about the call, and one
 * model serves many runs at once: what is kept beside the call, as its callbacks are, reaches the right run alone.
 */
export const retries = new AsyncLocalStorage<Retries>();

/** One second, then twice as long each time, and never the same for two clients. */
function backoff(attempt: number): number {
  return Math.min(1000 * 2 ** attempt, 16_000) * (0.75 + Math.random() / 2);
}

/** A server that wants us to wait longer than this has refused. */
export const LONGEST_WAIT = 60_000;

/** The milliseconds that a response's headers ask to wait. */
export function retryAfter(headers: Pick<Headers, "get">): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const wait = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}
