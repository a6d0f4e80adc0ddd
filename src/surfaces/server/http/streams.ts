import { setMaxListeners } from "node:events";
import { refuse } from "./answers.ts";
import type { ServerContext } from "./context.ts";
import { ALREADY_SENT, ResponseBody, responseIn, StreamBody, type EventBody } from "./event-body.ts";

/** One more would be a mistake, or an attack: a page needs one, and a program a few. */
const MOST_OF_USER = 128;
/** The most of all users together. */
const MOST = 4096;
const HEARTBEAT_MS = 15_000;

const HEADERS = { "content-type": "text/event-stream" };

type Work = (stream: EventBody, signal: AbortSignal) => Promise<void>;

/** The event streams that are open. */
export class Streams {
  /** How many are open, by their users. */
  readonly #open = new Map<string | undefined, number>();
  readonly #closing = new AbortController();

  constructor() {
    // Each stream listens; Node takes more than ten listeners for a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Lets a request begin what its stream will tell of: a run that was begun and then refused would be asked for again.
   * Answers 429 where there are too many streams.
   */
  async admit(c: ServerContext, answer: () => Response | Promise<Response>): Promise<Response> {
    const user = c.get("user");
    const all = [...this.#open.values()].reduce((sum, count) => sum + count, 0);
    if (all >= MOST || (this.#open.get(user) ?? 0) >= MOST_OF_USER) {
      refuse(429, "Too many streams are open.");
    }
    this.#count(user, 1);
    try {
      return await answer();
    } finally {
      // The stream itself is counted by now.
      this.#count(user, -1);
    }
  }

  #count(user: string | undefined, change: 1 | -1): void {
    const count = (this.#open.get(user) ?? 0) + change;
    if (count > 0) this.#open.set(user, count);
    else this.#open.delete(user);
  }

  /** Answers a request with events for as long as `work` takes, or somebody reads. The request was admitted. */
  open(c: ServerContext, work: Work): Response {
    // Only asked about: there will be no reader whose end ends it.
    if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
    const user = c.get("user");
    const gone = new AbortController();
    const close = (): void => gone.abort();
    const response = responseIn(c.env);
    if (response) {
      const { headers } = c.body(null, 200, HEADERS);
      void this.#serve(new ResponseBody(response, headers, close), { gone, user, work });
      return ALREADY_SENT;
    }
    const body = new StreamBody(close);
    // A reader who went before the answer began is told of in no other way.
    const { signal: left } = c.req.raw;
    const leave = (): void => body.leave();
    left.addEventListener("abort", leave, { once: true });
    if (left.aborted) body.leave();
    // The platform keeps a request's signal, and whoever listens to it, for as long as that listener has the request.
    void this.#serve(body, { gone, user, work }).finally(() => left.removeEventListener("abort", leave));
    return c.body(body.stream, 200, HEADERS);
  }

  /** Never throws: an answer that has begun can only end. */
  async #serve(
    body: EventBody,
    { gone, user, work }: { gone: AbortController; user: string | undefined; work: Work },
  ): Promise<void> {
    this.#count(user, 1);
    body.user = user;
    const close = (): void => gone.abort();
    this.#closing.signal.addEventListener("abort", close, { once: true });
    const beat = setInterval(() => void body.write(": still here\n\n"), HEARTBEAT_MS);
    try {
      // Some clients wait for the first bytes before they take the stream for open.
      await body.write(": open\n\n");
      await work(body, gone.signal);
    } catch (error) {
      process.emitWarning(error as Error);
    } finally {
      clearInterval(beat);
      this.#closing.signal.removeEventListener("abort", close);
      this.#count(user, -1);
      body.end();
    }
  }

  close(): void {
    this.#closing.abort();
  }
}
