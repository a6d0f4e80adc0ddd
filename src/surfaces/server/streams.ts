import { setMaxListeners } from "node:events";
import { HTTPException } from "hono/http-exception";
import { streamSSE, type SSEStreamingApi } from "hono/streaming";
import type { ServerContext } from "./context.ts";

/** One more would be a mistake, or an attack: a page needs one, and a program a few. */
const MOST = 128;
const HEARTBEAT_MS = 15_000;

/** The event streams that are open. */
export class Streams {
  #open = 0;
  readonly #closing = new AbortController();

  constructor() {
    // Each stream listens; Node takes more than ten listeners for a leak.
    setMaxListeners(0, this.#closing.signal);
  }

  /** Answers a request with events for as long as `work` takes, or somebody reads. Answers 429 where there are too many. */
  open(c: ServerContext, work: (stream: SSEStreamingApi, signal: AbortSignal) => Promise<void>): Response {
    // Only asked about: there will be no reader whose end ends it.
    if (c.req.method === "HEAD") return c.body(null, 200, { "content-type": "text/event-stream" });
    if (this.#open >= MOST) throw new HTTPException(429, { message: "Too many streams are open." });
    this.#open += 1;
    return streamSSE(c, async (stream) => {
      const gone = new AbortController();
      const close = (): void => gone.abort();
      stream.onAbort(close);
      // A reader who went before the answer began is told of in no other way.
      const { signal: left } = c.req.raw;
      const leave = (): void => stream.abort();
      left.addEventListener("abort", leave, { once: true });
      if (left.aborted) stream.abort();
      this.#closing.signal.addEventListener("abort", close, { once: true });
      const beat = setInterval(() => void stream.write(": still here\n\n"), HEARTBEAT_MS);
      try {
        // Some clients wait for the first bytes before they take the stream for open.
        await stream.write(": open\n\n");
        await work(stream, gone.signal);
      } finally {
        clearInterval(beat);
        // The platform keeps a request's signal, and whoever listens to it, for as long as that listener has the request.
        left.removeEventListener("abort", leave);
        this.#closing.signal.removeEventListener("abort", close);
        this.#open -= 1;
      }
    });
  }

  close(): void {
    this.#closing.abort();
  }
}
