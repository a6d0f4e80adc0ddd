import type { BaseMessage } from "@langchain/core/messages";
import { NEEDS_LOAD, reviver } from "../../../storage/codec/index.ts";

/** A value's JSON now, and its JSON as a repetition of an earlier value. */
interface Written {
  now: string;
  again: string;
}

/**
 * Writes values as JSON, one after the other, each thing once: what was written before is a number from then on. A run
 * says its whole state after every step, and nearly all of it was said after the step before. Large things are known by
 * being the same objects, so that to change one in place is not noticed; small ones by what they say.
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
    const known = this.#numbers.get(value);
    if (known !== undefined) return numbered(known);
    // A circle would never end, and what is nested so deep is nobody's to read.
    if (depth > DEEPEST) return NULL;
    const whole = this.#whole(value, depth);
    // What is as short as its number would be is written out.
    if (whole.now.length < SHORTEST) return whole;
    const same = this.#texts.get(whole.again);
    const number = same ?? (this.#count += 1);
    this.#numbers.set(value, number);
    if (same !== undefined) return numbered(same);
    this.#remember(whole.again, number);
    return { now: `{"$+":${whole.now}}`, again: numbered(number).again };
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

/** Most values are written again as they are now: their text is made once. */
function both({ now, again }: Written, make: (text: string) => string): Written {
  const made = make(now);
  return { now: made, again: now === again ? made : make(again) };
}

const DEEPEST = 200;
const SHORTEST = 24;
/** The longest text that is compared by content; a longer one is the same only if it is the same object. */
const LONGEST = 2000;
const MOST_TEXTS = 5000;

/** Reads what a writer wrote and `JSON.parse` has taken apart, from the first value on and in the same order. */
export class SharedReader {
  readonly #values: unknown[] = [];

  read(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.read(item));
    const record = value as Record<string, unknown>;
    if (typeof record["$"] === "number") return this.#values[record["$"] - 1];
    if (typeof record["$m"] === "string") return messageOf(record["$m"]);
    if (Object.hasOwn(record, "$+")) {
      const made = this.read(record["$+"]);
      this.#values.push(made);
      return made;
    }
    const made: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      if (key !== "__proto__") made[key.startsWith("$") ? key.slice(1) : key] = this.read(record[key]);
    }
    return made;
  }
}

function isMessage(value: object): value is BaseMessage {
  return "lc_serializable" in value && typeof (value as Partial<BaseMessage>).toDict === "function";
}

/** A message of a class that only LangChain's `load` knows is what it was made with. */
function messageOf(text: string): unknown {
  const make = reviver(text);
  return make === NEEDS_LOAD ? (JSON.parse(text) as { kwargs?: unknown }).kwargs : make();
}
