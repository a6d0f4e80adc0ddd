import type { BaseMessage } from "@langchain/core/messages";
import { LATE, reviving } from "../../storage/revive.ts";

/**
 * Writes values as JSON, one after the other, each object once: what was written before is a number from then on. A
 * run says its whole state after every step, and nearly all of it was said after the step before. Objects are known by
 * being the same ones: to change one in place is not noticed.
 */
export class SharedWriter {
  readonly #numbers = new WeakMap<object, number>();
  #count = 0;

  write(value: unknown): string {
    return this.#text(value, 0) ?? "null";
  }

  #text(value: unknown, depth: number): string | undefined {
    if (typeof value === "bigint") return JSON.stringify(String(value));
    if (typeof value !== "object" || value === null) return JSON.stringify(value);
    const known = this.#numbers.get(value);
    if (known !== undefined) return `{"$":${known}}`;
    // A circle would never end, and what is nested so deep is nobody's to read.
    if (depth > DEEPEST) return "null";
    const text = this.#whole(value, depth);
    // What is as short as its number would be is written out.
    if (text.length < SHORTEST) return text;
    this.#numbers.set(value, (this.#count += 1));
    return `{"$+":${text}}`;
  }

  #whole(value: object, depth: number): string {
    if (isMessage(value)) return `{"$m":${JSON.stringify(JSON.stringify(value))}}`;
    if (Array.isArray(value)) {
      return `[${value.map((item) => this.#text(item, depth + 1) ?? "null").join(",")}]`;
    }
    const { toJSON } = value as { toJSON?: () => unknown };
    if (typeof toJSON === "function") return this.#text(toJSON.call(value), depth + 1) ?? "null";
    const parts: string[] = [];
    for (const [key, item] of Object.entries(value)) {
      const text = this.#text(item, depth + 1);
      if (text !== undefined) parts.push(`${JSON.stringify(key.startsWith("$") ? `$${key}` : key)}:${text}`);
    }
    return `{${parts.join(",")}}`;
  }
}

const DEEPEST = 200;
const SHORTEST = 24;

/** Reads what a writer wrote, from the first text on and in the same order. */
export class SharedReader {
  readonly #values: unknown[] = [];

  read(text: string): unknown {
    return this.#value(JSON.parse(text));
  }

  #value(value: unknown): unknown {
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.#value(item));
    const record = value as Record<string, unknown>;
    if (typeof record["$"] === "number") return this.#values[record["$"] - 1];
    if (typeof record["$m"] === "string") return messageOf(record["$m"]);
    if (Object.hasOwn(record, "$+")) {
      const made = this.#value(record["$+"]);
      this.#values.push(made);
      return made;
    }
    const made: Record<string, unknown> = {};
    for (const key of Object.keys(record)) {
      if (key !== "__proto__") made[key.startsWith("$") ? key.slice(1) : key] = this.#value(record[key]);
    }
    return made;
  }
}

function isMessage(value: object): value is BaseMessage {
  return "lc_serializable" in value && typeof (value as Partial<BaseMessage>).toDict === "function";
}

/** A message of a class that only LangChain's `load` knows is what it was made with. */
function messageOf(text: string): unknown {
  const make = reviving(text);
  return make === LATE ? (JSON.parse(text) as { kwargs?: unknown }).kwargs : make();
}
