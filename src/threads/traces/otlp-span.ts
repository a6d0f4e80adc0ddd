import { randomFillSync } from "node:crypto";
import { keyValues, nanoseconds } from "./otlp-json.ts";
import type { Attributes, Span, SpanStart } from "./span.ts";

export interface Place {
  traceId: string;
  spanId: string;
}

export interface OtlpSpanOptions extends Omit<SpanStart, "parent"> {
  name: string;
  above: Place | undefined;
  onEnd: (span: OtlpSpan) => void;
}

/** A long run has many changes of its plan, all in one span. */
const MOST_NOTES = 1000;

interface Note {
  name: string;
  at: number;
  attributes: Attributes;
}

/** Keeps what it is told as it came: it becomes what the protocol wants when it is sent. */
export class OtlpSpan implements Span, Place {
  readonly traceId: string;
  readonly spanId = randomHex(8);
  readonly #options: OtlpSpanOptions;
  readonly #attributes: Attributes[] = [];
  readonly #notes: Note[] = [];
  #droppedNotes = 0;
  #failure: string | undefined;
  #end: number | undefined;

  constructor(options: OtlpSpanOptions) {
    this.#options = options;
    this.traceId = options.above?.traceId ?? randomHex(16);
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
      ...(above && { parentSpanId: above.spanId }),
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
      ...(this.#droppedNotes > 0 && { droppedEventsCount: this.#droppedNotes }),
      status: this.#failure === undefined ? {} : { code: ERROR, message: this.#failure },
    };
  }
}

/** Numbers of the protocol. */
const [INTERNAL, CLIENT, ERROR] = [1, 3, 2];

/** A thousand random bytes take about as long as eight. */
const pool = Buffer.alloc(4096);
let used = pool.length;

function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString("hex", used - bytes, used);
}
