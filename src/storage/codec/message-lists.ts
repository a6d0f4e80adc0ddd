import type { Chunk } from "./chunk-tree.ts";
import { isObject } from "./json.ts";

/** The number of newest messages in a list that are checked for changes on each save; older ones are trusted. */
export const WATCHED_MESSAGES = 16;
/** The number of lists in which a message may end a chunk, such as the whole conversation and a part of it. */
const MAX_LISTS = 4;
/** The number of lists that are remembered as unread. */
const MAX_UNREAD = 1000;

/** A list of messages up to the end of a chunk, as it was stored. */
export interface Prefix {
  readonly thread: number;
  readonly before: Prefix | undefined;
  /** The messages of the list up to the end of the chunk, and perhaps more: longer lists share the array. */
  readonly all: readonly object[];
  /** The number of messages up to its end. */
  readonly length: number;
  readonly chunk: Chunk;
}

/** A chunk that follows a prefix. */
export interface NextChunk {
  thread: number;
  before: Prefix | undefined;
  items: readonly object[];
  chunk: Chunk;
}

/** A list from an index on. */
interface ListTail {
  thread: number;
  items: readonly unknown[];
  from: number;
}

/**
 * Remembers the stored chunks of message lists, by the message objects. A list that has grown is recognised: it has the
 * same objects up to the end of some chunk, and these are stored already. Chunks are shared by all lists with the same
 * prefix, and garbage-collected together with their messages.
 */
export class MessageLists {
  /** Prefixes by the message at the end of their chunk. */
  #ends = new WeakMap<object, Prefix[]>();
  /** Lists that were returned and not accessed yet, by thread and blob. */
  readonly #unread = new Set<string>();

  addUnread(thread: number, blob: number): void {
    if (this.#unread.size >= MAX_UNREAD) this.#unread.clear();
    this.#unread.add(`${thread} ${blob}`);
  }

  /** Removes a list from the unread ones; returns whether it was one. */
  takeUnread(thread: number, blob: number): boolean {
    return this.#unread.delete(`${thread} ${blob}`);
  }

  /** The longest stored prefix of a list that ends before the watched messages. */
  find(thread: number, items: readonly unknown[]): Prefix | undefined {
    for (let length = items.length - WATCHED_MESSAGES; length > 0; length--) {
      const end = items[length - 1];
      const prefix = isObject(end) ? this.#at(end, thread, length) : undefined;
      if (prefix) return sharedPart(prefix, items);
    }
    return undefined;
  }

  /** The chunks of any list that end with one of these items. */
  *chunksEndingIn(thread: number, items: readonly unknown[]): Generator<Prefix> {
    for (const item of items) {
      const prefixes = isObject(item) ? this.#ends.get(item) : undefined;
      for (const prefix of prefixes ?? []) if (prefix.thread === thread) yield prefix;
    }
  }

  /** Adds a chunk after a prefix; returns the existing prefix where it is the same. */
  add({ thread, before, items, chunk }: NextChunk): Prefix {
    const start = before?.length ?? 0;
    const length = start + items.length;
    const end = items.at(-1)!;
    const existing = this.#at(end, thread, length);
    if (existing && existing.before === before && hasChunk(existing, items, chunk.texts)) return existing;
    const prefix = { thread, before, all: extended(before, items), length, chunk };
    const others = (this.#ends.get(end) ?? []).filter((other) => other !== existing);
    this.#ends.set(end, [prefix, ...others].slice(0, MAX_LISTS));
    return prefix;
  }

  /**
   * Forgets the prefixes that end in a list from an index on, except for `newest` and those before it, which have just
   * been stored: the others may have a message as it was before it was changed in place.
   */
  keepOnly(newest: Prefix | undefined, { thread, items, from }: ListTail): void {
    const chain = new Set<Prefix>();
    for (let each = newest; each && each.length > from; each = each.before) chain.add(each);
    for (let at = from; at < items.length; at++) {
      const end = items[at];
      const prefixes = isObject(end) ? this.#ends.get(end) : undefined;
      const isOther = (each: Prefix): boolean =>
        each.thread === thread && each.length === at + 1 && !chain.has(each);
      if (prefixes?.some(isOther))
        this.#ends.set(
          end as object,
          prefixes.filter((each) => !isOther(each)),
        );
    }
  }

  /** Forgets all prefixes: after a rollback their blobs are gone. */
  clear(): void {
    this.#ends = new WeakMap();
  }

  #at(end: object, thread: number, length: number): Prefix | undefined {
    return this.#ends.get(end)?.find((prefix) => prefix.length === length && prefix.thread === thread);
  }
}

/** The longest part of a prefix that a list begins with. */
function sharedPart(prefix: Prefix, items: readonly unknown[]): Prefix | undefined {
  const { all, length } = prefix;
  let same = 0;
  while (same < length && all[same] === items[same]) same++;
  let shared: Prefix | undefined = prefix;
  while (shared && shared.length > same) shared = shared.before;
  return shared;
}

function extended(before: Prefix | undefined, items: readonly object[]): object[] {
  if (!before) return [...items];
  // The first list that continues a prefix extends its array; later ones copy it.
  const all =
    before.all.length === before.length ? (before.all as object[]) : before.all.slice(0, before.length);
  all.push(...items);
  return all;
}

function hasChunk(
  { all, length, chunk }: Prefix,
  items: readonly object[],
  texts: readonly string[],
): boolean {
  const start = length - chunk.texts.length;
  const isEqual = (item: object, at: number): boolean =>
    item === all[start + at] && texts[at] === chunk.texts[at];
  return items.length === chunk.texts.length && items.every(isEqual);
}
