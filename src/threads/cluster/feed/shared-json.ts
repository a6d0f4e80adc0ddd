import type { BaseMessage } from "@langchain/core/messages";
import { NEEDS_LOAD, reviver } from "../../../storage/codec/index.ts";

/** The JSON of a value the first time, and when it is repeated. */
interface Written {
  now: string;
  again: string;
}

/**
 * Writes a series of values as JSON. A part that was written before is written as a number: a run streams its whole state
 * after every step, and most of it has not changed. Large parts are compared by identity, so a change in place is not
 * noticed; small ones by content.
 */
export class SharedWriter {
  readonly #numbers = new WeakMap<object, number>();
  readonly #texts = new Map<string, number>();
  #count = 0;

  write(value: unknown): string {
    return this.#written(value, 0)?.now ?? "null";
  }

  #written(value: unknown, depth: number): Written | undefined {
    if (typeof value !== "object" || value === null) return plain(value);
    const number = this.#numbers.get(value);
    if (number !== undefined) return numbered(number);
    // Ends circular values.
    if (depth > DEEPEST) return NULL;
    const whole = this.#whole(value, depth);
    // Not longer than a number would be.
    if (whole.now.length < SHORTEST) return whole;
    const same = this.#texts.get(whole.again);
    const newNumber = same ?? (this.#count += 1);
    this.#numbers.set(value, newNumber);
    if (same !== undefined) return numbered(same);
    this.#remember(whole.again, newNumber);
    return { now: `{"$+":${whole.now}}`, again: numbered(newNumber).again };
  }

  #remember(text: string, number: number): void {
    if (text.length > LONGEST) return;
    if (this.#texts.size >= MOST_TEXTS) this.#texts.clear();
    this.#texts.set(text, number);
  }

  #whole(value: object, depth: number): Written {
    if (isMessage(value)) return plain({ $m: JSON.stringify(value) })!;
    const { toJSON } = value as { toJSON?: () => unknown };
    if (typeof toJSON === "function") return this.#written(toJSON.call(value), depth + 1) ?? NULL;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#written(item, depth + 1) ?? NULL);
      return joined(items, "[", "]");
    }
    const parts: Written[] = [];
    for (const [key, item] of Object.entries(value)) {
      const written = this.#written(item, depth + 1);
      if (!written) continue;
      const name = JSON.stringify(key.startsWith("$") ? `$${key}` : key);
      parts.push(both(written, (text) => `${name}:${text}`));
    }
    return joined(parts, "{", "}");
  }
}

const NULL: Written = { now: "null", again: "null" };

function plain(value: unknown): Written | undefined {
  const text = JSON.stringify(typeof value === "bigint" ? String(value) : value) as string | undefined;
  return text === undefined ? undefined : { now: text, again: text };
}

function numbered(number: number): Written {
  const text = `{"$":${number}}`;
  return { now: text, again: text };
}

function joined(parts: readonly Written[], open: string, close: string): Written {
  const text = (key: keyof Written): string => open + parts.map((part) => part[key]).join(",") + close;
  const now = text("now");
  return parts.every((part) => part.now === part.again) ? { now, again: now } : { now, again: text("again") };
}

/** Changes both texts, once if they are the same. */
function both({ now, again }: Written, change: (text: string) => string): Written {
  const text = change(now);
  return { now: text, again: now === again ? text : change(again) };
}

const DEEPEST = 200;
const SHORTEST = 24;
/** The longest text that is compared by content. */
const LONGEST = 2000;
const MOST_TEXTS = 5000;

/** Reads the parsed JSON of a writer, from its first value on and in the same order. */
export class SharedReader {
  readonly #values: unknown[] = [];

  read(json: unknown): unknown {
    if (typeof json !== "object" || json === null) return json;
    if (Array.isArray(json)) return json.map((item) => this.read(item));
    const record = json as Record<string, unknown>;
    if (typeof record["$"] === "number") return this.#values[record["$"] - 1];
    if (typeof record["$m"] === "string") return messageOf(record["$m"]);
    if (Object.hasOwn(record, "$+")) {
      const value = this.read(record["$+"]);
      this.#values.push(value);
      return value;
    }
    const copy: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      if (key !== "__proto__") copy[key.startsWith("$") ? key.slice(1) : key] = this.read(record[key]);
    }
    return copy;
  }
}

function isMessage(value: object): value is BaseMessage {
  return "lc_serializable" in value && typeof (value as Partial<BaseMessage>).toDict === "function";
}

/** A message. One of a class that only LangChain's `load` knows is read as its constructor's fields. */
function messageOf(text: string): unknown {
  const revive = reviver(text);
  return revive === NEEDS_LOAD ? (JSON.parse(text) as { kwargs?: unknown }).kwargs : revive();
}
