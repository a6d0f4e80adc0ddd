import type { Attribute, Attributes } from "./span.ts";

/** The resource that sends: `service.name` and other attributes. */
export interface Sender {
  resource: Attributes;
  version: string;
}

/** The endpoint of one signal. */
export interface Destination {
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** The time limit of a request, and of the last one at the end of a process. Default 10 s, and 1 s for the last. */
  timeoutMs?: number;
}

const LAST_REQUEST_MS = 1000;

/** Sends data to an OTLP collector, one request at a time, without delaying runs. */
export class Collector {
  readonly #destination: Destination;
  readonly #everyMs: number;
  readonly #sendAll: () => Promise<void>;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `sendAll` posts all data; it is called `everyMs` after `soon`. */
  constructor(destination: Destination, everyMs: number, sendAll: () => Promise<void>) {
    this.#destination = destination;
    this.#everyMs = everyMs;
    this.#sendAll = sendAll;
  }

  /** Schedules a request. */
  soon(): void {
    this.#timer ??= setTimeout(() => void this.send(), this.#everyMs).unref();
  }

  send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    return (this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    }));
  }

  /** Sends the rest, with a time limit. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#destination.timeoutMs ?? LAST_REQUEST_MS);
    });
    await Promise.race([this.send(), end]);
    clearTimeout(timer);
  }

  /** Returns whether the collector has accepted the data. Does not throw. */
  async post(body: object): Promise<boolean> {
    const { url, headers = {}, timeoutMs = 10_000 } = this.#destination;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.arrayBuffer();
      return response.ok;
    } catch {
      return false;
    }
  }
}

export function scopeOf({ version }: Sender): object {
  return { name: "holdfast", version };
}

/** A time in OTLP/JSON, where 64-bit numbers are strings. */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** Merges attributes; later ones replace earlier ones. */
export function keyValues(...attributes: readonly Attributes[]): object[] {
  return Object.entries(Object.assign({}, ...attributes) as Attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { doubleValue: value.fraction };
  return { intValue: String(Math.round(value)) };
}
