import { setMaxListeners } from "node:events";
import { HTTPException } from "hono/http-exception";
import type { ServerContext } from "./context.ts";
import { EventBody, type EventSink } from "./event-body.ts";
import { ALREADY_SENT, EventResponse, responseIn } from "./event-response.ts";

/** One more would be a mistake, or an attack: a page needs one, and a program a few. */
const MOST = 128;
const HEARTBEAT_MS = 15_000;

const HEADERS = { "content-type": "text/event-stream" };

interface Serving {
  body: EventSink;
  close: () => void;
  work: () => Promise<void>;
}

/** The event streams that are open. */
export class Streams {
  #open = 0;
  readonly #closing = new AbortController();

  constructor() {
    // Each stream listens; Node takes more than ten listeners for a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Answers a request with events for as long as `work` takes, or somebody reads. Answers 429 where there are too many. */
  open(c: ServerContext, work: (stream: EventSink, signal: AbortSignal) => Promise<void>): Response {
    // Only asked about: there will be no reader whose end ends it.
    if (c.req.method === "HEAD") return c.body(null, 200, HEADERS);
    if (this.#open >= MOST) throw new HTTPException(429, { message: "Too many streams are open." });
    this.#open += 1;
    const gone = new AbortController();
    const close = (): void => gone.abort();
    const serve = (body: EventSink): Promise<void> =>
      this.#serve({ body, close, work: () => work(body, gone.signal) });
    const response = responseIn(c.env);
    if (response) {
      void serve(new EventResponse(response, c.body(null, 200, HEADERS).headers, close));
      return ALREADY_SENT;
    }
    const body = new EventBody(close);
    void this.#untilLeft(c.req.raw.signal, body, () => serve(body));
    return c.body(body.stream, 200, HEADERS);
  }

  /** A reader who went before the answer began is told of in no other way. */
  async #untilLeft(left: AbortSignal, body: EventBody, serve: () => Promise<void>): Promise<void> {
    const leave = (): void => body.leave();
    left.addEventListener("abort", leave, { once: true });
    if (left.aborted) body.leave();
    await serve();
    // The platform keeps a request's signal, and whoever listens to it, for as long as that listener has the request.
    left.removeEventListener("abort", leave);
  }

  /** Never throws: an answer that has begun can only end. */
  async #serve({ body, close, work }: Serving): Promise<void> {
    this.#closing.signal.addEventListener("abort", close, { once: true });
    const beat = setInterval(() => void body.write(": still here\n\n"), HEARTBEAT_MS);
    try {
      // Some clients wait for the first bytes before they take the stream for open.
      await body.write(": open\n\n");
      await work();
    } catch (error) {
      process.emitWarning(error as Error);
    } finally {
      clearInterval(beat);
      this.#closing.signal.removeEventListener("abort", close);
      this.#open -= 1;
      body.end();
    }
  }

  close(): void {
    this.#closing.abort();
  }
}
