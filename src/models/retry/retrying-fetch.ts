import { attempt, HarnessError } from "../../errors.ts";
import { failureOf, isFinal } from "../failure/failure.ts";
import { withoutCredentials } from "../settings.ts";
import { Retries, retries, retryAfter, withSignal, LONGEST_WAIT } from "./retries.ts";
import { Silence } from "./silence.ts";
import { StreamEnds } from "./stream-ends.ts";

/**
 * A `fetch` that retries transient failures, and waits as long as the server requests. One set of rules for all
 * clients: on their own, some retry an unreachable server and others do not retry at all. `timeout`: the longest
 * silence of the server, in milliseconds.
 */
export function retryingFetch({
  maxRetries,
  timeout,
}: {
  maxRetries: number;
  timeout: number;
}): typeof fetch {
  const ends = new StreamEnds();
  return async (input, options) => {
    const call = retries.getStore();
    const init = { ...options, ...withSignal(options?.signal, call?.signal) };
    const attempts = call ?? new Retries(maxRetries);
    for (;;) {
      let obstacle: Obstacle | undefined;
      try {
        const response = await exchange(input, init, timeout);
        obstacle = attempts.areLeft ? await obstacleIn(response) : undefined;
        // Outside of a call no one retries an answer that broke off.
        if (!obstacle) return ends.watched(urlOf(input), response, () => !call?.areLeft);
      } catch (error) {
        if (!attempts.areLeft || init.signal?.aborted || !mayPass(error)) throw error;
        obstacle = { reason: "no answer came" };
      }
      await attempts.wait(obstacle.reason, { requestedWait: obstacle.wait, signal: init.signal });
    }
  };
}

/** The reason for a retry, and the wait that the server requests. */
interface Obstacle {
  reason: string;
  wait?: number;
}

/** Whether a retry may help. It does not for a refused connection or an unknown host. */
function mayPass(error: unknown): boolean {
  return ["timeout", "cut"].includes(failureOf(error).kind);
}

/** The reason to retry after a response; undefined if there is none. */
async function obstacleIn(response: Response): Promise<Obstacle | undefined> {
  const { status, headers } = response;
  const isTransient = status === 408 || status === 429 || (status >= 500 && status !== 501);
  if (!isTransient || headers.get("x-should-retry") === "false") return undefined;
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

type Input = Parameters<typeof fetch>[0];

/**
 * Sends one request. Passes streams through, and reads everything else completely, so that a cut connection fails here.
 * Throws `bad-response` for a success that no client can read, and `no-answer` if the server is silent for longer than
 * `timeout` milliseconds.
 */
async function exchange(input: Input, init: RequestInit | undefined, timeout: number): Promise<Response> {
  const url = urlOf(input);
  const silence = new Silence(timeout, withoutCredentials(url));
  const signal = init?.signal ? AbortSignal.any([init.signal, silence.signal]) : silence.signal;
  const response = await silence.limit(fetch(input, { ...init, signal, ...withoutNodesLimits() }));
  const { ok, body, status, statusText, headers } = response;
  const copy = { status, statusText, headers };
  const type = headers.get("content-type") ?? "";
  if (ok && body && !/application\/json|html/.test(type)) return new Response(limited(body, silence), copy);

  const bytes = await silence.limit(response.arrayBuffer());
  const problem = ok && CHAT.test(url) ? problemWith(new TextDecoder().decode(bytes)) : undefined;
  if (problem) throw new HarnessError("bad-response", `${withoutCredentials(url)} ${problem}.`);
  return new Response(bytes, copy);
}

function urlOf(input: Input): string {
  return input instanceof Request ? input.url : String(input);
}

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

/** Disables Node's own limit of 5 minutes. */
function withoutNodesLimits(): object {
  // The public symbol of the dispatcher that `fetch` uses. It is set once any part of `fetch` was loaded.
  const current = (globalThis as Record<symbol, unknown>)[Symbol.for("undici.globalDispatcher.1")];
  const { dispatch } = (current ?? {}) as Partial<Dispatcher>;
  if (!dispatch) return {};
  const dispatcher: Dispatcher = {
    dispatch: (options, handler) =>
      dispatch.call(current as Dispatcher, { ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
  return { dispatcher };
}

function limited(body: ReadableStream<Uint8Array>, silence: Silence): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await silence.limit(reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    cancel: async (reason) => reader.cancel(reason),
  });
}

const CHAT = /\/(chat\/completions|messages|responses|api\/chat)$/;
/** Top-level keys of answers in OpenAI's two protocols, Anthropic's and Ollama's. */
const ANSWER_KEYS = ["choices", "output", "content", "message"];

/** Checks that a text is a model's answer. Clients do not, and fail with a `TypeError` or return nothing. */
function problemWith(text: string): string | undefined {
  const answer = attempt((): unknown => JSON.parse(text));
  if (answer === undefined) return "did not answer with JSON";
  if (typeof answer !== "object" || answer === null) return "did not answer with an object";
  if (ANSWER_KEYS.some((key) => key in answer)) return undefined;
  // LM Studio sends an error with status 200 if the path is wrong.
  if (!("error" in answer)) return "answered with JSON that is not an answer of a model";
  const { error } = answer;
  return `answered with an error: ${typeof error === "string" ? error : JSON.stringify(error)}`;
}
