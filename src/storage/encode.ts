import { BaseMessage } from "@langchain/core/messages";
import { isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import type { Blobs } from "./blobs.ts";
import { toChunks } from "./chunks.ts";
import { isSend, MAX_DEPTH, sendFields, tooDeep, toJson, UNDEFINED } from "./json.ts";
import type { Memo } from "./memo.ts";

/** Longer text gets a blob of its own, and is then stored once however often it recurs. */
const INLINE_CHARS = 128;
/** A longer list or record is cut into chunks. */
const WHOLE_CHARS = 512;

/** A key that begins with `~` is ours; one of the user's that does gets a second one. */
export const REFERENCE = "~";
export const SNAPSHOT = "~s";

export interface EncodeOptions {
  blobs: Blobs;
  memo: Memo;
  thread: number;
}

/**
 * Writes values as JSON in which everything large is a reference to a blob. Arrays and plain objects are walked, so
 * a message is stored once wherever it stands: in a list, in a pending write, in the state that a `Send` carries.
 * An object with a key `lc` is LangChain's or the serializer's and is never walked. Call inside a transaction.
 */
export class Encoder {
  readonly #options: EncodeOptions;
  readonly #path: object[] = [];

  constructor(options: EncodeOptions) {
    this.#options = options;
  }

  encode(value: unknown): string {
    return this.#inline(this.#text(value));
  }

  #text(value: unknown): string {
    if (value === undefined) return UNDEFINED;
    if (typeof value === "bigint") throw new TypeError("A BigInt cannot be saved in a checkpoint.");
    if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
    if (this.#path.includes(value)) return '"[Circular]"';
    if (this.#path.length > MAX_DEPTH) throw tooDeep();
    this.#path.push(value);
    try {
      return this.#object(value);
    } finally {
      this.#path.pop();
    }
  }

  #object(value: object): string {
    if (Array.isArray(value)) return this.#list(value);
    if (value instanceof Uint8Array) return this.#store("bytes", value);
    if (isDeltaSnapshot(value)) return `{"${SNAPSHOT}":${this.encode(value.value)}}`;
    if (isSend(value)) return this.#record({ ...sendFields(value) });
    if (isWalkable(value)) return this.#record(value);
    return this.#opaque(value);
  }

  #list(items: readonly unknown[]): string {
    const texts = Array.from(items, (item) => this.encode(item));
    return this.#join({ texts, kind: "list", open: "[", close: "]" });
  }

  #record(record: object): string {
    const texts = Object.entries(record)
      .filter(([, value]) => typeof value !== "function" && typeof value !== "symbol")
      .map(([key, value]) => {
        const name = key.startsWith(REFERENCE) ? REFERENCE + key : key;
        return `${JSON.stringify(name)}:${this.encode(value)}`;
      });
    return this.#join({ texts, kind: "record", open: "{", close: "}" });
  }

  #opaque(value: object): string {
    const { memo, thread } = this.#options;
    const message = BaseMessage.isInstance(value);
    const known = message ? memo.find(value, thread) : undefined;
    if (known !== undefined) return reference(known);
    const text = toJson(value);
    if (text.length <= INLINE_CHARS && !text.includes(`"${REFERENCE}`)) return text;
    const blob = this.#options.blobs.put(thread, "json", text);
    if (message) memo.remember(value, thread, blob);
    return reference(blob);
  }

  #join(parts: { texts: string[]; kind: "list" | "record"; open: string; close: string }): string {
    const { texts, kind, open, close } = parts;
    const whole = open + texts.join(",") + close;
    if (whole.length <= WHOLE_CHARS) return whole;
    let ids = toChunks(texts).map((chunk) => this.#put("tree", open + chunk.join(",") + close));
    while (ids.length > 1) {
      const groups = toChunks(ids.map(String));
      // Where every number ends a chunk, one node takes them all.
      const next = groups.length < ids.length ? groups : [ids];
      ids = next.map((group) => this.#put(kind, `[${group.join(",")}]`));
    }
    return reference(ids[0]!);
  }

  #inline(text: string): string {
    return text.length <= INLINE_CHARS ? text : this.#store("tree", text);
  }

  #store(kind: "tree" | "bytes", body: string | Uint8Array): string {
    return reference(this.#put(kind, body));
  }

  #put(kind: "tree" | "bytes" | "list" | "record", body: string | Uint8Array): number {
    return this.#options.blobs.put(this.#options.thread, kind, body);
  }
}

function reference(blob: number): string {
  return `{"${REFERENCE}":${blob}}`;
}

function isWalkable(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return !Object.hasOwn(value, "lc") && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}
