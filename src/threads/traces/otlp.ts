import { keyValues, scopeOf, type Sender } from "./otlp-json.ts";
import { OtlpSpan, type Place } from "./otlp-span.ts";
import { awaitLast, post, type Destination } from "./post.ts";
import type { Span, SpanStart, Tracer } from "./span.ts";

export interface OtlpOptions extends Sender, Destination {
  /** The parent of the first span, as `traceparent` names it. */
  parent?: Place | undefined;
}

/** A collector that is away or slow costs at most this much memory: what comes then is dropped, and counted. */
const MOST_WAITING = 4096;
const BATCH = 512;
/** As OpenTelemetry's own exporters. */
const EVERY_MS = 5000;

/**
 * Sends spans to a collector as OTLP/JSON: in batches, one request at a time, never in the way of a run. What cannot be
 * sent is dropped.
 */
export class OtlpTracer implements Tracer {
  readonly #options: OtlpOptions;
  #waiting: OtlpSpan[] = [];
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  start(name: string, { parent, ...rest }: SpanStart): Span {
    const above = parent instanceof OtlpSpan ? parent : this.#options.parent;
    return new OtlpSpan({ ...rest, name, above, onEnd: this.#add });
  }

  /** Sends what there is, and waits for it a moment. */
  close(): Promise<void> {
    return awaitLast(this.#send(), this.#options);
  }

  readonly #add = (span: OtlpSpan): void => {
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= BATCH) void this.#send();
    else this.#timer ??= setTimeout(() => void this.#send(), EVERY_MS).unref();
  };

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

  #post(spans: readonly OtlpSpan[]): Promise<boolean> {
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
