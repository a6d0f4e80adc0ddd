import { randomBytes } from "node:crypto";
import type { Attribute, Attributes, Span, SpanStart, Tracer } from "./span.ts";

export interface OtlpOptions {
  /** Where traces are posted to, all of it. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Who sends: `service.name` and whatever else. */
  resource: Attributes;
  version: string;
  /** How long the collector may take for an answer. */
  timeoutMs?: number;
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
/** A process that ends waits no longer than this. */
const GOODBYE_MS = 1000;

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
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    let timer: NodeJS.Timeout | undefined;
    const goodbye = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, GOODBYE_MS);
    });
    await Promise.race([this.#send(), goodbye]);
    clearTimeout(timer);
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

  async #post(spans: readonly object[]): Promise<boolean> {
    const { url, headers = {}, resource, version, timeoutMs = 10_000 } = this.#options;
    const dropped = this.#dropped;
    const body = JSON.stringify({
      resourceSpans: [
        {
          resource: {
            attributes: keyValues({
              ...resource,
              ...(dropped > 0 && { "holdfast.dropped_spans": dropped }),
            }),
          },
          scopeSpans: [{ scope: { name: "holdfast", version }, spans }],
        },
      ],
    });
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const sent = { "content-type": "application/json", ...headers };
      const response = await fetch(url, { method: "POST", headers: sent, body, signal });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }
}

/** Numbers of the protocol. */
const [INTERNAL, CLIENT, ERROR] = [1, 3, 2];

function randomId(): string {
  return randomBytes(8).toString("hex");
}

function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : { key, value: anyValue(value) },
  );
}

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { doubleValue: value.fraction };
  return { intValue: String(Math.round(value)) };
}
