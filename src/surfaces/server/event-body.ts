/** An event as the platform's `EventSource` reads it. `data` is JSON: it has no line breaks. */
export interface ServerSentEvent {
  id?: number;
  event: string;
  data: string;
}

/** Where the events of an answer go. */
export interface EventSink {
  /** Resolves when there is room for more. What is sent to nobody is dropped. */
  send: (events: readonly ServerSentEvent[]) => Promise<void>;
  write: (text: string) => Promise<void>;
  end: () => void;
}

/**
 * The body of an answer that events are written to, one piece for all that are sent together. Streams of the platform
 * are costly, and this is one; what goes through Hono's goes through three.
 */
export class EventBody implements EventSink {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #onGone: () => void;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isOver = false;
  #waiting: (() => void)[] = [];

  /** `onGone` hears of a reader who has gone before the end. */
  constructor(onGone: () => void) {
    this.#onGone = onGone;
    this.stream = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#want(),
      cancel: () => this.#leave(),
    });
  }

  async send(events: readonly ServerSentEvent[]): Promise<void> {
    if (events.length > 0) await this.write(eventsText(events));
  }

  async write(text: string): Promise<void> {
    if (this.#isOver) return;
    this.#controller.enqueue(ENCODER.encode(text));
    if (this.#controller.desiredSize! > 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#controller.close();
  }

  /** Nobody will read it any more. */
  leave(): void {
    if (this.#isOver) return;
    this.#controller.close();
    this.#leave();
  }

  #leave(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#want();
    this.#onGone();
  }

  #want(): void {
    for (const resolve of this.#waiting) resolve();
    this.#waiting = [];
  }
}

const ENCODER = new TextEncoder();

/** Events as they are sent. */
export function eventsText(events: readonly ServerSentEvent[]): string {
  return events.map(textOf).join("");
}

function textOf({ id, event, data }: ServerSentEvent): string {
  // A name may be one that a graph's author, or a tool, has made up.
  const text = `event: ${event.replaceAll(/[\r\n]/g, " ")}\ndata: ${data}\n`;
  return id === undefined ? `${text}\n` : `${text}id: ${id}\n\n`;
}
