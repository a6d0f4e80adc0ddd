import type { Chunk } from "./chunk-tree.ts";

/** So many of the newest messages of a list are compared part by part whenever it is saved; older ones are believed. */
export const WATCHED = 16;
/** A message may end a chunk of several lists, such as the whole conversation and a part of it. */
const MAX_LISTS = 4;
/** Of so many lists it is known that nobody has looked at them. */
const MAX_UNSEEN = 1000;

/** A list of messages up to the end of a chunk, as it was stored. */
export interface Prefix {
  readonly thread: number;
  readonly before: Prefix | undefined;
  /** The messages of the list up to the end of the chunk, and perhaps more: lists that go on share one array. */
  readonly all: readonly object[];
  /** How many messages there are up to its end. */
  readonly length: number;
  readonly chunk: Chunk;
}

/** A chunk that follows a prefix. */
export interface Next {
  thread: number;
  before: Prefix | undefined;
  items: readonly object[];
  chunk: Chunk;
}

/** A list from some place on. */
interface Part {
  thread: number;
  items: readonly unknown[];
  from: number;
}

/**
 * Remembers how lists of messages were stored, by the messages themselves. A list that has grown is recognised: the
 * same objects stand in it up to some chunk's end, and all up to there is stored already. Chunks are shared by all
 * lists that begin alike, and forgotten together with their messages.
 */
export class Lists {
  /** By the message at the end of the chunk. */
  #ends = new WeakMap<object, Prefix[]>();
  /** Lists that were read last by somebody who has not looked at them, by thread and blob. */
  readonly #unseen = new Set<string>();

  addUnseen(thread: number, blob: number): void {
    if (this.#unseen.size >= MAX_UNSEEN) this.#unseen.clear();
    this.#unseen.add(`${thread} ${blob}`);
  }

  /** Whether a list was one of them; now it is not any more. */
  takeUnseen(thread: number, blob: number): boolean {
    return this.#unseen.delete(`${thread} ${blob}`);
  }

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
  add({ thread, before, items, chunk }: Next): Prefix {
    const start = before?.length ?? 0;
    const length = start + items.length;
    const end = items.at(-1)!;
    const known = this.#at(end, thread, length);
    if (known && known.before === before && hasChunk(known, items, chunk.texts)) return known;
    const prefix = { thread, before, all: extended(before, items), length, chunk };
    const others = (this.#ends.get(end) ?? []).filter((other) => other !== known);
    this.#ends.set(end, [prefix, ...others].slice(0, MAX_LISTS));
    return prefix;
  }

  /**
   * Lets go of what ends in a list behind some place, but for one line of prefixes, which has just been stored: a message
   * that was changed in place may be in the others as it was.
   */
  keepOnly(kept: Prefix | undefined, { thread, items, from }: Part): void {
    const line = new Set<Prefix>();
    for (let each = kept; each && each.length > from; each = each.before) line.add(each);
    for (let at = from; at < items.length; at++) {
      const end = items[at];
      const known = isObject(end) ? this.#ends.get(end) : undefined;
      const isOther = (each: Prefix): boolean =>
        each.thread === thread && each.length === at + 1 && !line.has(each);
      if (known?.some(isOther))
        this.#ends.set(
          end as object,
          known.filter((each) => !isOther(each)),
        );
    }
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
  const { all, length } = prefix;
  let same = 0;
  while (same < length && all[same] === items[same]) same++;
  let shared: Prefix | undefined = prefix;
  while (shared && shared.length > same) shared = shared.before;
  return shared;
}

function extended(before: Prefix | undefined, items: readonly object[]): object[] {
  if (!before) return [...items];
  // The first to go on from there takes the array along.
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

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
