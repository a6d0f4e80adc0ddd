import { randomBytes } from "node:crypto";
import { keyValues, nanoseconds, scopeOf, type Sender } from "./otlp-json.ts";
import { goodbye, post, type Destination } from "./post.ts";
import type { Attribute, Span, SpanStart, Tracer } from "./span.ts";

export interface OtlpOptions extends Sender, Destination {
  /** What the first span is below, as `traceparent` says it. */
  parent?: Place | undefined;
}

export interface Place {
  traceId: string;
  spanId: string;
}

/** A collector that is away or slow costs at most this much memory: what comes then is dropped, and counted. */
const MOST_WAITING = 4096;
const BATCH = 512;
const EVERY_MS = 2000;

/**
 * Sends spans to a collector as OTLP/JSON: in batches, one request at a time, never in the way of a run. What cannot be
 * sent is dropped.
 */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpOptions;
  readonly #places = new WeakMap<Span, Place>();
  #waiting: object[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  start(name: string, { at, attributes = {}, parent, isCall = false }: SpanStart): Span {
    const above = (parent && this.#places.get(parent)) ?? this.#options.parent;
    const place = { traceId: above?.traceId ?? randomBytes(16).toString("hex"), spanId: randomId() };
    const all: Record<string, Attribute | undefined> = { ...attributes };
    const events: object[] = [];
    let status: object = {};
    let hasEnded = false;
    const span: Span = {
      set: (more) => void Object.assign(all, more),
      note: (what, when, more = {}) => {
        events.push({ name: what, timeUnixNano: nanoseconds(when), attributes: keyValues(more) });
      },
      fail: (message) => {
        status = { code: ERROR, message };
      },
      end: (when) => {
        if (hasEnded) return;
        hasEnded = true;
        this.#add({
          ...place,
          ...(above && { parentSpanId: above.spanId }),
          name,
          kind: isCall ? CLIENT : INTERNAL,
          startTimeUnixNano: nanoseconds(at),
          endTimeUnixNano: nanoseconds(Math.max(at, when)),
          attributes: keyValues(all),
          events,
          status,
        });
      },
    };
    this.#places.set(span, place);
    return span;
  }

  /** Sends what there is, and waits for it a moment. */
  close(): Promise<void> {
    return goodbye(this.#send());
  }

  #add(span: object): void {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH) void this.#send();
    else this.#timer ??= setTimeout(() => void this.#send(), EVERY_MS).unref();
  }

  #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    }));
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, BATCH);
      if (await this.#post(spans)) continue;
      // A collector that is away is asked again with what comes next.
      this.#dropped += spans.length;
      return;
    }
  }

  #post(spans: readonly object[]): Promise<boolean> {
    const { resource } = this.#options;
    const dropped = this.#dropped > 0 && { "holdfast.dropped_spans": this.#dropped };
    return post(this.#options, {
      resourceSpans: [
        {
          resource: { attributes: keyValues({ ...resource, ...dropped }) },
          scopeSpans: [{ scope: scopeOf(this.#options), spans }],
        },
      ],
    });
  }
}

/** Numbers of the protocol. */
const [INTERNAL, CLIENT, ERROR] = [1, 3, 2];

function randomId(): string {
  return randomBytes(8).toString("hex");
}
