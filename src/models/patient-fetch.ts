import { setTimeout as sleep } from "node:timers/promises";
import { exchange } from "./exchange.ts";
import { failureOf, isOutOfQuota } from "./failure.ts";

export interface PatientFetchOptions {
  maxRetries: number;
  /** How long the server may be silent, in milliseconds. Default: as long as Node allows. */
  timeout?: number;
}

/** A server that wants us to wait longer than this has refused. */
const LONGEST_WAIT = 60_000;

/**
 * A `fetch` that sends a request again when that may help, and waits as long as the server asks. One set of rules
 * for all clients: on their own some retry a server that is not there, and others do not retry at all.
 */
export function patientFetch({ maxRetries, timeout }: PatientFetchOptions): typeof fetch {
  return async (input, init) => {
    for (let attempt = 0; ; attempt += 1) {
      const isLast = attempt >= maxRetries;
      let wait: number | undefined;
      try {
        const response = await exchange(input, init, timeout);
        wait = isLast ? undefined : await waitAfter(response, attempt);
        if (wait === undefined) return response;
      } catch (error) {
        if (isLast || init?.signal?.aborted || !mayPass(error)) throw error;
        wait = backoff(attempt);
      }
      await sleep(wait, undefined, init?.signal ? { signal: init.signal } : {});
    }
  };
}

/** Nobody listening and no such host do not pass by waiting: those errors are shown at once. */
function mayPass(error: unknown): boolean {
  return ["timeout", "cut"].includes(failureOf(error).kind);
}

/** How long to wait before the next attempt; undefined when this response is the answer. */
async function waitAfter(response: Response, attempt: number): Promise<number | undefined> {
  const { status, headers } = response;
  const passing = status === 408 || status === 429 || (status >= 500 && status !== 501);
  if (!passing || headers.get("x-should-retry") === "false") return undefined;
  if (isOutOfQuota(status, await response.clone().text())) return undefined;
  const asked = askedWait(headers);
  if (asked === undefined) return backoff(attempt);
  return asked <= LONGEST_WAIT ? asked : undefined;
}

function askedWait(headers: Headers): number | undefined {
  const milliseconds = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const wait = Number.isNaN(Number(after)) ? Date.parse(after) - Date.now() : Number(after) * 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}

/** One second, then twice as long each time, and never the same for two clients. */
function backoff(attempt: number): number {
  return Math.min(1000 * 2 ** attempt, 16_000) * (0.75 + Math.random() / 2);
}
