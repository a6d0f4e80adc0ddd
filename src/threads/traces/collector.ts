import type { Attribute, Attributes } from "./span.ts";

/** The resource that sends: `service.name` and other attributes. */
export interface Sender {
  resource: Attributes;
  version: string;
}

/** Where one kind of signal is posted to. */
export interface Destination {
  /** All of the address. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** The time limit of a request, and of the last one of a process that ends. */
  timeoutMs?: number;
}

/** A process that ends waits no longer than this for its last request, unless a time limit is set. */
const LAST_REQUEST_MS = 1000;

/** A collector that is told something now and then: one request at a time, never in the way of a run. */
export class Collector {
  readonly #destination: Destination;
  readonly #everyMs: number;
  readonly #sendAll: () => Promise<void>;
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `sendAll` posts what there is, `everyMs` after it was said that there is something. */
  constructor(destination: Destination, everyMs: number, sendAll: () => Promise<void>) {
    this.#destination = destination;
    this.#everyMs = everyMs;
    this.#sendAll = sendAll;
  }

  /** Says that there is something to send. */
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

  /** Sends what there is, and waits for it a moment. */
  async close(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const end = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#destination.timeoutMs ?? LAST_REQUEST_MS);
    });
    await Promise.race([this.send(), end]);
    clearTimeout(timer);
  }

  /** Whether the collector has taken it. Does not throw. */
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

/** 64-bit numbers are texts in OTLP/JSON. */
export function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

/** Merges attributes; later ones replace earlier ones. */
export function keyValues(...attributes: readonly Attributes[]): object[] {
  const found: object[] = [];
  for (const [key, value] of Object.entries(Object.assign({}, ...attributes) as Attributes)) {
    if (value !== undefined) found.push({ key, value: anyValue(value) });
  }
  return found;
}

function anyValue(value: Attribute): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "object") return { doubleValue: value.fraction };
  return { intValue: String(Math.round(value)) };
}
