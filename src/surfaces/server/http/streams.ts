import { setMaxListeners } from "node:events";
import { refuse } from "./answers.ts";
import type { ServerContext } from "./context.ts";
import { ALREADY_SENT, ResponseBody, responseIn, StreamBody, type EventBody } from "./event-body.ts";

/** Open streams per user: a page needs one, a program a few. */
const MOST_OF_USER = 128;
/** Open streams of all users together. */
const MOST = 4096;
const HEARTBEAT_MS = 15_000;

const HEADERS = { "content-type": "text/event-stream" };

type Work = (stream: EventBody, signal: AbortSignal) => Promise<void>;

/** Opens event streams, and limits their number. */
export class Streams {
  /** The number of open streams by user. */
  readonly #open = new Map<string | undefined, number>();
  readonly #closing = new AbortController();

  constructor() {
    // Every stream adds a listener, and Node warns of a leak above ten.
    setMaxListeners(0, this.#closing.signal);
  }

  /**
   * Handles a request that opens a stream. Answers 429 before anything is started if too many streams are open: a client
   * would repeat a request that is refused after its run has started.
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
      // By now `open` counts the stream itself.
      this.#count(user, -1);
    }
  }

  #count(user: string | undefined, change: 1 | -1): void {
    const count = (this.#open.get(user) ?? 0) + change;
    if (count > 0) this.#open.set(user, count);
    else this.#open.delete(user);
  }

  /** Answers an admitted request with events, until `work` ends or the reader disconnects. */
  open(c: ServerContext, work: Work): Response {
    // HEAD has no reader whose disconnect would end the stream.
    if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
    const user = c.get("user");
    const disconnect = new AbortController();
    const onDisconnect = (): void => disconnect.abort();
    const response = responseIn(c.env);
    if (response) {
      const { headers } = c.body(null, 200, HEADERS);
      void this.#serve(new ResponseBody(response, headers, onDisconnect), { disconnect, user, work });
      return ALREADY_SENT;
    }
    const body = new StreamBody(onDisconnect);
    // Only the signal reports a reader that disconnects before the response begins.
    const { signal } = c.req.raw;
    const abort = (): void => body.abort();
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) body.abort();
    // A listener that holds the request would keep the signal, and itself, in memory.
    void this.#serve(body, { disconnect, user, work }).finally(() =>
      signal.removeEventListener("abort", abort),
    );
    return c.body(body.stream, 200, HEADERS);
  }

  /** Never throws: a response that has started can only end. */
  async #serve(
    body: EventBody,
    { disconnect, user, work }: { disconnect: AbortController; user: string | undefined; work: Work },
  ): Promise<void> {
    this.#count(user, 1);
    body.user = user;
    const close = (): void => disconnect.abort();
    this.#closing.signal.addEventListener("abort", close, { once: true });
    const heartbeat = setInterval(() => void body.write(": still here\n\n"), HEARTBEAT_MS);
    try {
      // Some clients treat the stream as open only after the first bytes.
      await body.write(": open\n\n");
      await work(body, disconnect.signal);
    } catch (error) {
      process.emitWarning(error as Error);
    } finally {
      clearInterval(heartbeat);
      this.#closing.signal.removeEventListener("abort", close);
      this.#count(user, -1);
      body.end();
    }
  }

  close(): void {
    this.#closing.abort();
  }
}
