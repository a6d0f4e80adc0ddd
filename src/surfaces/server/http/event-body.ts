import { ServerResponse } from "node:http";
import { withNames } from "./own-names.ts";

/** An event as the platform's `EventSource` reads it. `data` is JSON: it has no line breaks. */
export interface ServerSentEvent {
  id?: number;
  event: string;
  data: string;
}

/** The body of an answer that events are written to, one piece for all that are sent together. */
export abstract class EventBody {
  readonly #onGone: () => void;
  /** The reader, where users are told apart. */
  user: string | undefined;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** `onGone` hears of a reader who has gone before the end. */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
  }

  /** Returns whether there is room for more; where there is none, `want` says when there is. */
  protected abstract put(text: string): boolean;
  protected abstract close(): void;

  /** Resolves when there is room for more. What is sent to nobody is dropped. */
  async send(events: readonly ServerSentEvent[]): Promise<void> {
    if (events.length > 0) await this.write(events.map(textOf).join(""));
  }

  async write(text: string): Promise<void> {
    if (this.#isOver || this.put(withNames(this.user, text))) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.close();
  }

  /** Stops for a reader that has gone. */
  leave(): void {
    if (this.#isOver) return;
    this.close();
    this.left();
  }

  /** The reader has closed it. */
  protected left(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.want();
    this.#onGone();
  }

  protected want(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

/** A stream of the platform, for whoever serves what `fetch` answers. */
export class StreamBody extends EventBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(onGone: () => void) {
    super(onGone);
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.want(),
      cancel: () => this.left(),
    });
  }

  protected override put(text: string): boolean {
    this.#controller.enqueue(ENCODER.encode(text));
    return this.#controller.desiredSize! > 0;
  }

  protected override close(): void {
    this.#controller.close();
  }
}

const ENCODER = new TextEncoder();

/**
 * The answer of Node's own server, without a stream of the platform between: those are costly at every event, and what
 * Hono does with one keeps a promise, half a kilobyte, for every piece until the answer has ended.
 */
export class ResponseBody extends EventBody {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse, headers: Headers, onGone: () => void) {
    super(onGone);
    this.#response = response;
    response.on("drain", () => this.want());
    response.on("close", () => this.left());
    // Its end is told as well, and is all there is to know.
    response.on("error", () => {});
    // Who went before the answer began is not told of again.
    if (response.closed) this.left();
    else response.writeHead(200, Object.fromEntries(headers));
  }

  protected override put(text: string): boolean {
    return this.#response.write(text);
  }

  protected override close(): void {
    this.#response.end();
  }
}

/** Node's answer to a request, where Hono's adapter has it: other platforms pass other things. */
export function responseIn(env: unknown): ServerResponse | undefined {
  const { outgoing } = (env ?? {}) as { outgoing?: unknown };
  return outgoing instanceof ServerResponse && !outgoing.headersSent ? outgoing : undefined;
}

/** Tells Hono's adapter that there is nothing left to send. A clone is of the platform's own class, which it looks into. */
export const ALREADY_SENT = new Response(null, { headers: { "x-hono-already-sent": "true" } }).clone();

function textOf({ id, event, data }: ServerSentEvent): string {
  // A name may be one that a graph's author, or a tool, has made up.
  const text = `event: ${event.replaceAll(/[\r\n]/g, " ")}\ndata: ${data}\n`;
  return id === undefined ? `${text}\n` : `${text}id: ${id}\n\n`;
}
