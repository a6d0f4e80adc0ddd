import { randomBytes } from "node:crypto";
import { Collector, keyValues, nanoseconds, scopeOf, type Destination, type Sender } from "./collector.ts";
import type { Attributes, Span, SpanStart, Tracer } from "./span.ts";

export interface Endpoint {
  traceId: string;
  spanId: string;
}

interface OtlpOptions extends Sender, Destination {
  /** The parent of the first span, as `traceparent` names it. */
  parent?: Endpoint;
}

/** The most spans that wait for a slow collector; further ones are dropped, and counted. */
const MOST_WAITING = 4096;
const BATCH = 512;
/** The interval of OpenTelemetry's own exporters. */
const EVERY_MS = 5000;

/** Sends spans to a collector as OTLP/JSON, in batches. Drops those that cannot be sent. */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpOptions;
  readonly #collector: Collector;
  #waiting: OtlpSpan[] = [];
  #dropped = 0;

  constructor(options: OtlpOptions) {
    this.#options = options;
    this.#collector = new Collector(options, EVERY_MS, () => this.#sendAll());
  }

  start(name: string, { parent, ...rest }: SpanStart): Span {
    const above = parent instanceof OtlpSpan ? parent : this.#options.parent;
    return new OtlpSpan({ ...rest, name, above, onEnd: this.#add });
  }

  /** Sends the rest, with a time limit. */
  close(): Promise<void> {
    return this.#collector.close();
  }

  readonly #add = (span: OtlpSpan): void => {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH) void this.#collector.send();
    else this.#collector.soon();
  };

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, BATCH);
      if (await this.#post(spans)) continue;
      // The next batch tries again.
      this.#dropped += spans.length;
      return;
    }
  }

  #post(spans: readonly OtlpSpan[]): Promise<boolean> {
    const { resource } = this.#options;
    const dropped = this.#dropped > 0 && { "holdfast.dropped_spans": this.#dropped };
    return this.#collector.post({
      resourceSpans: [
        {
          resource: { attributes: keyValues({ ...resource, ...dropped }) },
          scopeSpans: [{ scope: scopeOf(this.#options), spans }],
        },
      ],
    });
  }
}

interface OtlpSpanOptions extends Omit<SpanStart, "parent"> {
  name: string;
  above: Endpoint | undefined;
  onEnd: (span: OtlpSpan) => void;
}

/** The most notes of a span: a long run has many plan changes, all in one span. */
const MOST_NOTES = 1000;

interface Note {
  name: string;
  at: number;
  attributes: Attributes;
}

/** A span, which is converted to the protocol's form when it is sent. */
class OtlpSpan implements Span, Endpoint {
  readonly traceId: string;
  readonly spanId = randomBytes(8).toString("hex");
  readonly #options: OtlpSpanOptions;
  readonly #attributes: Attributes[] = [];
  readonly #notes: Note[] = [];
  #droppedNotes = 0;
  #failure: string | undefined;
  #end: number | undefined;

  constructor(options: OtlpSpanOptions) {
    this.#options = options;
    this.traceId = options.above?.traceId ?? randomBytes(16).toString("hex");
    if (options.attributes) this.#attributes.push(options.attributes);
  }

  set(attributes: Attributes): void {
    if (this.#end === undefined) this.#attributes.push(attributes);
  }

  note(name: string, at: number, attributes: Attributes = {}): void {
    if (this.#end !== undefined) return;
    if (this.#notes.length < MOST_NOTES) this.#notes.push({ name, at, attributes });
    else this.#droppedNotes += 1;
  }

  fail(message: string): void {
    if (this.#end === undefined) this.#failure = message;
  }

  end(at: number): void {
    if (this.#end !== undefined) return;
    this.#end = Math.max(this.#options.at, at);
    this.#options.onEnd(this);
  }

  toJSON(): object {
    const { name, at, above, isCall = false } = this.#options;
    return {
      traceId: this.traceId,
      spanId: this.spanId,
      parentSpanId: above?.spanId,
      name,
      kind: isCall ? CLIENT : INTERNAL,
      startTimeUnixNano: nanoseconds(at),
      endTimeUnixNano: nanoseconds(this.#end ?? at),
      attributes: keyValues(...this.#attributes),
      events: this.#notes.map((note) => ({
        name: note.name,
        timeUnixNano: nanoseconds(note.at),
        attributes: keyValues(note.attributes),
      })),
      droppedEventsCount: this.#droppedNotes > 0 ? this.#droppedNotes : undefined,
      status: this.#failure === undefined ? {} : { code: ERROR, message: this.#failure },
    };
  }
}

/** Numbers of the protocol. */
const [INTERNAL, CLIENT, ERROR] = [1, 3, 2];
