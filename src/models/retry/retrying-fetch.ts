import { failureOf, isFinal } from "../failure/failure.ts";
import { exchange, urlOf } from "./exchange.ts";
import { Retries, retries } from "./retries.ts";
import { retryAfter, LONGEST_WAIT } from "./retry-after.ts";
import { StreamEnds } from "./stream-ends.ts";

export interface RetryingFetchOptions {
  maxRetries: number;
  /** The longest silence of the server, in milliseconds. */
  timeout: number;
}

/**
 * A `fetch` that sends a request again when that may help, and waits as long as the server asks. One set of rules
 * for all clients: on their own some retry a server that is not there, and others do not retry at all.
 */
export function retryingFetch({ maxRetries, timeout }: RetryingFetchOptions): typeof fetch {
  const ends = new StreamEnds();
  return async (input, given) => {
    const call = retries.getStore();
    const init = { ...given, ...withSignal(given?.signal, call?.signal) };
    const left = call ?? new Retries(maxRetries);
    for (;;) {
      let obstacle: Obstacle | undefined;
      try {
        const response = await exchange(input, init, timeout);
        obstacle = left.areLeft ? await obstacleIn(response) : undefined;
        // Outside of a call nobody asks again for an answer that broke off.
        if (!obstacle) return ends.watched(urlOf(input), response, () => !call?.areLeft);
      } catch (error) {
        if (!left.areLeft || init.signal?.aborted || !mayPass(error)) throw error;
        obstacle = { reason: "no answer came" };
      }
      await left.wait(obstacle.reason, { asked: obstacle.wait, signal: init.signal });
    }
  };
}

/** Some clients keep the signal of a call to themselves. */
function withSignal(...signals: (AbortSignal | null | undefined)[]): { signal?: AbortSignal } {
  const [first, second] = signals.filter((signal) => signal instanceof AbortSignal);
  return first ? { signal: second ? AbortSignal.any([first, second]) : first } : {};
}

/** Why a request has to be sent again, and how long the server wants us to wait. */
interface Obstacle {
  reason: string;
  wait?: number | undefined;
}

/** Returns whether a retry may help. A refused connection or an unknown host is reported at once. */
function mayPass(error: unknown): boolean {
  return ["timeout", "cut"].includes(failureOf(error).kind);
}

/** The reason why a response is not the answer; undefined if it is. */
async function obstacleIn(response: Response): Promise<Obstacle | undefined> {
  const { status, headers } = response;
  const passing = status === 408 || status === 429 || (status >= 500 && status !== 501);
  if (!passing || headers.get("x-should-retry") === "false") return undefined;
  if (isFinal(status, await response.clone().text())) return undefined;
  const wait = retryAfter(headers);
  if (wait !== undefined && wait > LONGEST_WAIT) return undefined;
  return { reason: `${REASONS[status] ?? "server error"}, ${status}`, wait };
}

const REASONS: Record<number, string> = {
  408: "server too slow",
  429: "too many requests",
  503: "server busy",
  529: "server busy",
};
