import type { Chunk } from "./spine.ts";

/** So many of the newest messages of a list are compared part by part whenever it is saved; older ones are believed. */
export const WATCHED = 64;
/** A message may end a chunk of several lists, such as the whole conversation and a part of it. */
const MAX_LISTS = 4;

/** A list of messages up to the end of a chunk, as it was stored. */
export interface Prefix {
  readonly thread: number;
  readonly before: Prefix | undefined;
  /** The messages of the last chunk. */
  readonly items: readonly object[];
  /** How many messages there are up to its end. */
  readonly length: number;
  readonly chunk: Chunk;
}

/**
 * Remembers how lists of messages were stored, by the messages themselves. A list that has grown is recognised: the
 * same objects stand in it up to some chunk's end, and all up to there is stored already. Chunks are shared by all
 * lists that begin alike, and forgotten together with their messages.
 */
export class Lists {
  /** By the message at the end of the chunk. */
  #ends = new WeakMap<object, Prefix[]>();

  /** The longest beginning of a list that is stored and is not watched any more. */
  find(thread: number, items: readonly unknown[]): Prefix | undefined {
    for (let length = items.length - WATCHED; length > 0; length--) {
      const end = items[length - 1];
      const known = isObject(end) ? this.#at(end, thread, length) : undefined;
      if (known) return sharedPart(known, items);
    }
    return undefined;
  }

  /** The chunks, of whatever list, that end with one of these. */
  *chunksIn(thread: number, items: readonly unknown[]): Generator<Prefix> {
    for (const item of items) {
      const known = isObject(item) ? this.#ends.get(item) : undefined;
      for (const prefix of known ?? []) if (prefix.thread === thread) yield prefix;
    }
  }

  /** Notes what comes after a prefix; returns what is noted already where it is the same. */
  add(next: Prefix): Prefix {
    const end = next.items.at(-1)!;
    const known = this.#at(end, next.thread, next.length);
    if (known && isSame(known, next)) return known;
    const others = (this.#ends.get(end) ?? []).filter((other) => other !== known);
    this.#ends.set(end, [next, ...others].slice(0, MAX_LISTS));
    return next;
  }

  /** Forgets all: after a rollback, what was just stored is gone again. */
  clear(): void {
    this.#ends = new WeakMap();
  }

  #at(end: object, thread: number, length: number): Prefix | undefined {
    return this.#ends.get(end)?.find((prefix) => prefix.length === length && prefix.thread === thread);
  }
}

/** As much of a prefix as a list begins with. */
function sharedPart(prefix: Prefix, items: readonly unknown[]): Prefix | undefined {
  let shared: Prefix | undefined = prefix;
  for (let at: Prefix | undefined = prefix; at; at = at.before) {
    const start = at.length - at.items.length;
    for (let nth = 0; nth < at.items.length; nth++) {
      if (at.items[nth] === items[start + nth]) continue;
      shared = at.before;
      break;
    }
  }
  return shared;
}

function isSame(one: Prefix, other: Prefix): boolean {
  const isEqualChunk = isEqual(one.chunk.texts, other.chunk.texts) && isEqual(one.items, other.items);
  return one.before === other.before && isEqualChunk;
}

function isEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, at) => item === b[at]);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
