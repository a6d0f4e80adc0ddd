import { ServerResponse } from "node:http";
import { withoutPrivateIds } from "./private-ids.ts";

/** A server-sent event. `data` is JSON, so it has no line breaks. */
export interface ServerSentEvent {
  id?: number;
  event: string;
  data: string;
}

/** A response body for events. Events of one `send` are written together. */
export abstract class EventBody {
  readonly #onDisconnect: () => void;
  /** The reader, on a server with `auth`. */
  user: string | undefined;
  #isEnded = false;
  #waiting: (() => void)[] = [];

  /** `onDisconnect` is called if the reader disconnects before the end. */
  constructor(onDisconnect: () => void) {
    this.#onDisconnect = onDisconnect;
  }

  /** Returns whether the buffer has room for more; if not, `drained` is called once it has. */
  protected abstract put(text: string): boolean;
  protected abstract close(): void;

  /** Resolves when the buffer has room for more. Drops events after the end. */
  async send(events: readonly ServerSentEvent[]): Promise<void> {
    if (events.length > 0) await this.write(events.map(textOf).join(""));
  }

  async write(text: string): Promise<void> {
    if (this.#isEnded || this.put(withoutPrivateIds(this.user, text))) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.close();
  }

  /** Closes the body because the reader has disconnected. */
  abort(): void {
    if (this.#isEnded) return;
    this.close();
    this.disconnected();
  }

  protected disconnected(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.drained();
    this.#onDisconnect();
  }

  protected drained(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

/** A web stream, for callers of `fetch` other than Node's server. */
export class StreamBody extends EventBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller!: ReadableStreamDefaultController<Uint8Array>;

  constructor(onDisconnect: () => void) {
    super(onDisconnect);
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.drained(),
      cancel: () => this.disconnected(),
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
 * The response of Node's server, without a web stream in between: a web stream is slow for every event, and Hono keeps a
 * promise (half a kilobyte) for every chunk of one until the response has ended.
 */
export class ResponseBody extends EventBody {
  readonly #response: ServerResponse;

  constructor(response: ServerResponse, headers: Headers, onDisconnect: () => void) {
    super(onDisconnect);
    this.#response = response;
    response.on("drain", () => this.drained());
    response.on("close", () => this.disconnected());
    // "close" follows every error and is enough.
    response.on("error", () => {});
    // There is no second "close" for a reader that disconnected before the response began.
    if (response.closed) this.disconnected();
    else response.writeHead(200, Object.fromEntries(headers));
  }

  protected override put(text: string): boolean {
    return this.#response.write(text);
  }

  protected override close(): void {
    this.#response.end();
  }
}

/** Node's response to a request, if Hono's adapter for Node passed it. */
export function responseIn(env: unknown): ServerResponse | undefined {
  const { outgoing } = (env ?? {}) as { outgoing?: unknown };
  return outgoing instanceof ServerResponse && !outgoing.headersSent ? outgoing : undefined;
}

/** Tells Hono's adapter that the response is sent already. A clone, as the adapter inspects the platform's own `Response` class. */
export const ALREADY_SENT = new Response(null, { headers: { "x-hono-already-sent": "true" } }).clone();

function textOf({ id, event, data }: ServerSentEvent): string {
  // Graphs and tools choose event names: a line break would end the field.
  const text = `event: ${event.replaceAll(/[\r\n]/g, " ")}\ndata: ${data}\n`;
  return id === undefined ? `${text}\n` : `${text}id: ${id}\n\n`;
}
