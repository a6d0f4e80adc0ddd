import { ServerResponse } from "node:http";
import { eventsText, type EventSink, type ServerSentEvent } from "./event-body.ts";

/**
 * The answer of Node's own server, written to without a stream of the platform in between: what Hono does with one
 * keeps a promise, half a kilobyte, for every piece until the answer has ended.
 */
export class EventResponse implements EventSink {
  readonly #response: ServerResponse;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** `onGone` hears of a reader who has gone before the end. */
  constructor(response: ServerResponse, headers: Headers, onGone: () => void) {
    this.#response = response;
    const leave = (): void => {
      if (this.#isOver) return;
      this.#isOver = true;
      this.#want();
      onGone();
    };
    response.on("drain", () => this.#want());
    response.once("error", leave).once("close", leave);
    // Who went before the answer began is not told of again.
    if (response.closed) leave();
    else response.writeHead(200, Object.fromEntries(headers));
  }

  async send(events: readonly ServerSentEvent[]): Promise<void> {
    if (events.length > 0) await this.write(eventsText(events));
  }

  async write(text: string): Promise<void> {
    if (this.#isOver || this.#response.write(text)) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#response.end();
  }

  #want(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

/** Node's answer to a request, where Hono's adapter has it: other platforms pass other things. */
export function responseIn(env: unknown): ServerResponse | undefined {
  const { outgoing } = (env ?? {}) as { outgoing?: unknown };
  return outgoing instanceof ServerResponse && !outgoing.headersSent ? outgoing : undefined;
}

/** Tells Hono's adapter that there is nothing left to send. A clone is of the platform's own class, which it looks into. */
export const ALREADY_SENT = new Response(null, { headers: { "x-hono-already-sent": "true" } }).clone();
