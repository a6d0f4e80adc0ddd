import { load } from "@langchain/core/load";
import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import type { Blob, BlobSource } from "./blob-cache.ts";
import { appendChunk, isCompleteChunk } from "./chunk-tree.ts";
import { MESSAGES, REFERENCE, reference, SNAPSHOT } from "./encode.ts";
import { isObject, UNDEFINED } from "./json.ts";
import { lazyList } from "./lazy-list.ts";
import type { Memo } from "./memo.ts";
import { WATCHED_MESSAGES, type MessageLists, type Prefix } from "./message-lists.ts";
import { NEEDS_LOAD, reviver, type Reviver } from "./revive.ts";

const CONSTRUCTOR = '{"lc":1,"type":"constructor"';
/** The number of blobs that are read before the event loop turns. */
const BATCH = 500;
/** The length at which a list of messages is built lazily. */
const MIN_LAZY_LENGTH = 200;

type Json = Record<string, unknown>;
type Reference = { [REFERENCE]: number };

export interface DecodeContext {
  blobs: BlobSource;
  memo: Memo;
  lists: MessageLists;
  thread: number;
  serde: SerializerProtocol;
}

export interface DecodeOptions {
  /** Whether long lists of messages can only be read in part: for a history, where copies of each list would be too many. */
  isBrief?: boolean;
  isLazy?: boolean;
  isPrefetched?: boolean;
}

/** The tree of a channel, and the properties of its value to read. Default: all. */
export interface ChannelTree {
  tree: unknown;
  keys?: readonly string[];
}

/** A node of a list, the index of its first item, and the wanted items of the list. */
interface ListPart {
  id: number;
  start: number;
  end: number;
  at: number;
}

/** A list that is read in parts. An array is one, too. */
export type PartialList<Item> = Pick<readonly Item[], "length" | "slice">;

/**
 * Reads the values that an `Encoder` wrote. A message that occurs in several places is one object within a decoder, as in
 * the run that saved it; two decoders never return the same object.
 */
export class Decoder {
  readonly #context: DecodeContext;
  /** Whether long lists of messages are built on first access. */
  readonly #isLazy: boolean;
  /** Whether the blobs of lazy lists are fetched beforehand, for a source that cannot be read synchronously. */
  readonly #isPrefetched: boolean;
  readonly #isBrief: boolean;
  readonly #blobs = new Map<number, Blob>();
  readonly #values = new Map<number, unknown>();
  /** The items of chunks that consist of messages. */
  readonly #messages = new Map<number, readonly object[]>();
  /** Objects inside trees that only the serializer can read. */
  readonly #revived = new Map<object, unknown>();
  /** The numbers of items in the nodes of message lists. */
  readonly #counts = new Map<number, number>();
  /** The newest value of each channel, and its tree as JSON: most checkpoints have the values of the one before. */
  readonly #channels = new Map<string, { text: string; value: unknown }>();
  /** The blobs of the message lists that were built. */
  readonly #lists = new Set<number>();
  #pending: Promise<void>[] = [];

  constructor(context: DecodeContext, options: DecodeOptions = {}) {
    const { isLazy = false, isPrefetched = false, isBrief = false } = options;
    this.#context = context;
    this.#isBrief = isBrief;
    this.#isLazy = isLazy;
    this.#isPrefetched = isPrefetched;
  }

  get thread(): number {
    return this.#context.thread;
  }

  /** Fetches all blobs that the trees refer to. Blobs never change, so this may take several turns of the event loop. */
  async load(trees: readonly unknown[]): Promise<void> {
    let read = 0;
    const levels = this.#levels(this.#referencesIn(trees));
    for (let request = levels.next(); !request.done;) {
      const blobs = this.#read(request.value);
      read += request.value.length;
      request = levels.next(blobs instanceof Promise ? await blobs : blobs);
      if (read < BATCH) continue;
      read = 0;
      await new Promise(setImmediate);
    }
    await Promise.all(this.#pending.splice(0));
  }

  set(target: object, key: PropertyKey, tree: unknown): void {
    if (!this.#isLazy || !isLazyList(tree)) return define(target, key, { value: this.build(tree) });
    Object.defineProperty(target, key, {
      get: () => {
        const value = this.build(tree);
        define(target, key, { value });
        return value;
      },
      set: (value: unknown) => {
        define(target, key, { value });
      },
      enumerable: true,
      configurable: true,
    });
  }

  /** Sets the value of a channel. The checkpoints of a brief history share equal values, which nothing changes. */
  setChannel(values: Record<string, unknown>, name: string, { tree, keys }: ChannelTree): void {
    if (!this.#isBrief) return this.set(values, name, tree);
    const text = JSON.stringify(tree);
    const last = this.#channels.get(name);
    const value = last?.text === text ? last.value : keys ? this.#pick(tree, keys) : this.build(tree);
    if (last?.text !== text) this.#channels.set(name, { text, value });
    define(values, name, { value });
  }

  /** Some properties of a record. */
  #pick(tree: unknown, keys: readonly string[]): unknown {
    if (!isObject(tree)) return tree;
    const blob = isReference(tree) ? this.#blobs.get(tree[REFERENCE])! : undefined;
    const parts =
      blob?.kind === "record"
        ? this.#leaves(tree[REFERENCE] as number).map((leaf) => this.#blobs.get(leaf)!.parsed)
        : [blob ? (blob.kind === "tree" ? blob.parsed : this.build(tree)) : tree];
    const picked = {};
    for (const part of parts as Json[]) {
      for (const key of keys) if (Object.hasOwn(part, key)) this.set(picked, key, part[key]);
    }
    return picked;
  }

  build(tree: unknown): unknown {
    if (!isObject(tree)) return tree;
    if (Array.isArray(tree)) return this.#watch(this.#items(tree));
    if (this.#revived.has(tree)) return this.#revived.get(tree);
    const target = tree[REFERENCE];
    if (typeof target === "number") return isLazyList(tree) ? this.#messageList(target) : this.#node(target);
    if (SNAPSHOT in tree) return new DeltaSnapshot(this.build(tree[SNAPSHOT]));
    return this.#fill({}, tree);
  }

  #items(trees: readonly unknown[]): unknown[] {
    const items: unknown[] = [];
    for (let at = 0; at < trees.length; at++) this.set(items, at, trees[at]);
    return items;
  }

  #fill(target: object, tree: object): object {
    for (const [key, value] of Object.entries(tree)) {
      this.set(target, key.startsWith(REFERENCE) ? key.slice(1) : key, value);
    }
    return target;
  }

  #node(id: number): unknown {
    if (!this.#blobs.has(id)) this.#fetchNow(id);
    const blob = this.#blobs.get(id)!;
    if (blob.kind === "json") return this.#value(id, blob);
    if (blob.kind === "bytes") return Uint8Array.from(blob.body as Uint8Array);
    if (blob.kind === "tree") return blob.contents ? this.#list(id) : this.build(blob.parsed);
    return blob.kind === "list" ? this.#list(id) : this.#record(id);
  }

  #value(id: number, blob: Blob): unknown {
    const value = this.#valueOf(id, blob);
    this.#rememberBlob(value, id);
    return value;
  }

  #valueOf(id: number, { parsed }: Blob): unknown {
    if (this.#values.has(id)) return this.#values.get(id);
    const value = (parsed as Reviver)();
    this.#values.set(id, value);
    return value;
  }

  /** Remembers the blob of a message for its next save: some messages serialize differently from their stored text. */
  #rememberBlob(value: unknown, id: number): void {
    const { memo, thread } = this.#context;
    if (!BaseMessage.isInstance(value) || memo.findUnchecked(value, thread)) return;
    memo.remember(value, { thread, blob: id, isPlain: this.#blobs.get(id)?.parsed !== NEEDS_LOAD });
  }

  #record(id: number): object {
    const record = {};
    for (const part of this.#leaves(id)) this.#fill(record, this.#blobs.get(part)!.parsed as object);
    return record;
  }

  /**
   * A lazy list, or a plain one where the list before it was never accessed: LangChain reads a thread first and accesses
   * no message, then LangGraph reads it and accesses all.
   */
  #messageList(id: number): unknown[] | PartialList<unknown> {
    if (!this.#blobs.has(id)) this.#fetchNow(id);
    const length = this.#count(id);
    if (this.#isBrief) return { length, slice: (from = 0, to = length) => this.#part(id, from, to) };
    const { lists, thread } = this.#context;
    // A checkpoint and its writes may contain the same list.
    const isFirst = !this.#lists.has(id);
    this.#lists.add(id);
    if (length < MIN_LAZY_LENGTH || (isFirst && lists.takeUnread(thread, id))) return this.#list(id);
    if (isFirst) lists.addUnread(thread, id);
    return lazyList(length, () => {
      lists.takeUnread(thread, id);
      return this.#list(id);
    });
  }

  /** The number of items in a list. */
  #count(id: number): number {
    const known = this.#counts.get(id);
    if (known !== undefined) return known;
    const { kind, parsed } = this.#blobs.get(id)!;
    const parts = parsed as number[];
    const count = kind === "tree" ? parts.length : parts.reduce((sum, part) => sum + this.#count(part), 0);
    this.#counts.set(id, count);
    return count;
  }

  /** The items of a list from an index to another; negative ones count from its end. */
  #part(id: number, from: number, to: number): unknown[] {
    const length = this.#count(id);
    const start = from < 0 ? Math.max(0, length + from) : from;
    const end = to < 0 ? length + to : Math.min(to, length);
    const items: unknown[] = [];
    this.#addPart(items, { id, start, end, at: 0 });
    return items;
  }

  /** Adds the items of a node that begins at index `at` of its list. Returns the index after the node. */
  #addPart(items: unknown[], { id, start, end, at }: ListPart): number {
    const after = at + this.#count(id);
    if (after <= start || at >= end) return after;
    const { kind, parsed } = this.#blobs.get(id)!;
    if (kind === "tree") {
      for (const item of this.#chunk(id).slice(Math.max(0, start - at), end - at)) items.push(item);
      return after;
    }
    let next = at;
    for (const part of parsed as number[]) next = this.#addPart(items, { id: part, start, end, at: next });
    return after;
  }

  #list(id: number): unknown[] {
    const leaves = this.#leaves(id);
    // `flatMap` takes a microsecond for each item.
    const items: unknown[] = [];
    for (const leaf of leaves) for (const item of this.#chunk(leaf)) items.push(item);
    this.#rememberChunks(leaves);
    // The encoder looks at no more than the watched messages and the chunk before them.
    let count = 0;
    for (let at = leaves.length - 1; at >= 0 && count < 2 * WATCHED_MESSAGES; at--) {
      const { parsed, contents } = this.#blobs.get(leaves[at]!)!;
      const chunk = this.#chunk(leaves[at]!);
      for (const [nth, tree] of (parsed as unknown[]).entries()) {
        if (!isReference(tree)) continue;
        const message = tree[REFERENCE];
        if (contents || this.#blobs.get(message)?.kind === "json") this.#rememberBlob(chunk[nth], message);
      }
      count += chunk.length;
    }
    return this.#watch(items);
  }

  #chunk(id: number): readonly unknown[] {
    const cached = this.#messages.get(id);
    if (cached) return cached;
    const { parsed, parts, contents } = this.#blobs.get(id)!;
    let isPlain = true;
    const items: unknown[] =
      contents?.messages.map((message, at) => this.#valueOf(parts![at]!, message)) ?? [];
    for (const tree of contents ? [] : (parsed as unknown[])) {
      const blob = isReference(tree) ? this.#blobs.get(tree[REFERENCE])! : undefined;
      const isMessage = blob?.kind === "json" && blob.parsed !== NEEDS_LOAD;
      const item = isMessage ? this.#valueOf((tree as Reference)[REFERENCE], blob) : this.build(tree);
      isPlain &&= isMessage && BaseMessage.isInstance(item);
      items.push(item);
    }
    if (isPlain) this.#messages.set(id, items as object[]);
    return items;
  }

  /** The leaf blobs of a list or record, in order. */
  #leaves(id: number): number[] {
    const { kind, parsed } = this.#blobs.get(id)!;
    if (kind === "tree") return [id];
    return (parsed as number[]).flatMap((part) => this.#leaves(part));
  }

  /** Remembers the complete chunks of a message list, so that an append stores only new ones. */
  #rememberChunks(leaves: readonly number[]): void {
    const { lists, thread } = this.#context;
    let prefix: Prefix | undefined;
    for (const id of leaves) {
      const items = this.#messages.get(id);
      const texts = items && this.#textsOf(id);
      if (!texts) return;
      const chunk = { ...appendChunk(prefix?.chunk, texts), id };
      prefix = lists.add({ thread, before: prefix, items, chunk });
    }
  }

  /** The encoded items of a chunk of messages; undefined where it is not complete. */
  #textsOf(id: number): readonly string[] | undefined {
    const { parsed, parts, contents } = this.#blobs.get(id)!;
    if (contents) return contents.texts;
    const texts = (parsed as unknown[]).map(textOf);
    if (!isCompleteChunk(texts)) return undefined;
    const messages = parts?.map((part) => this.#blobs.get(part)!);
    if (messages) this.#context.blobs.keepContents(this.#context.thread, id, { messages, texts });
    return texts;
  }

  /** Watches the newest messages of a list for changes until it is saved again. */
  #watch(items: unknown[]): unknown[] {
    const { memo, thread } = this.#context;
    for (const item of items.slice(-WATCHED_MESSAGES)) if (isObject(item)) memo.watch(item, thread);
    return items;
  }

  #read(ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>> {
    return this.#context.blobs.read(this.#context.thread, ids);
  }

  #fetchNow(id: number): void {
    const levels = this.#levels(new Set([id]));
    for (let request = levels.next(); !request.done;) {
      request = levels.next(this.#read(request.value) as Map<number, Blob>);
    }
  }

  /** Walks blobs level by level: yields the ids to read next, and receives the blobs. */
  *#levels(roots: Set<number>): Generator<number[], void, Map<number, Blob>> {
    for (let ids = this.#unread(roots); ids.length > 0;) {
      const next = new Set<number>();
      for (let at = 0; at < ids.length; at += BATCH) {
        const batch = ids.slice(at, at + BATCH);
        for (const [id, blob] of yield batch) {
          this.#blobs.set(id, blob);
          this.#parse(id, blob);
          if (blob.kind !== "json" && !blob.contents) for (const part of this.#partsOf(blob)) next.add(part);
        }
      }
      ids = this.#unread(next);
    }
  }

  #unread(ids: Set<number>): number[] {
    return [...ids].filter((id) => !this.#blobs.has(id));
  }

  #parse(id: number, blob: Blob): void {
    if (blob.kind === "bytes") return;
    const { body } = blob;
    if (typeof body === "string") {
      blob.parsed = blob.kind === "json" ? reviver(body) : JSON.parse(body);
      if (blob.parsed !== NEEDS_LOAD) blob.body = undefined;
    }
    if (blob.parsed === NEEDS_LOAD) this.#await(blob.body as string, (value) => this.#values.set(id, value));
  }

  #partsOf(blob: Blob): Iterable<number> {
    const { kind, parsed } = blob;
    if (kind === "tree") return (blob.parts ??= bareReferences(parsed)) ?? this.#referencesIn(parsed);
    return kind === "list" || kind === "record" ? (parsed as number[]) : [];
  }

  #referencesIn(tree: unknown, ids = new Set<number>()): Set<number> {
    if (!isObject(tree)) return ids;
    if (Object.hasOwn(tree, "lc")) this.#revive(tree);
    else if (this.#isLazy && !this.#isPrefetched && isLazyList(tree)) return ids;
    else if (typeof tree[REFERENCE] === "number") ids.add(tree[REFERENCE]);
    else for (const item of Object.values(tree)) this.#referencesIn(item, ids);
    return ids;
  }

  #revive(record: Json): void {
    const text = JSON.stringify(record);
    const create = text === UNDEFINED ? () => undefined : reviver(text);
    if (create === NEEDS_LOAD) this.#await(text, (value) => this.#revived.set(record, value));
    else this.#revived.set(record, create());
  }

  /** Reads a text asynchronously, before `load` resolves. */
  #await(text: string, store: (value: unknown) => void): void {
    // The serializer calls the same `load` with its limit of depth.
    const isMessage = text.startsWith(CONSTRUCTOR) && !text.includes('"lc":2');
    const value = isMessage
      ? load(text, { maxDepth: Number.POSITIVE_INFINITY })
      : this.#context.serde.loadsTyped("json", text);
    const task = value.then(store);
    // `load` awaits it; until then Node would take a failure for an unhandled rejection.
    task.catch(() => {});
    this.#pending.push(task);
  }
}

function isReference(tree: unknown): tree is Reference {
  return isObject(tree) && typeof tree[REFERENCE] === "number";
}

/** The references of a list that consists of references, as most chunks of messages do. */
function bareReferences(tree: unknown): number[] | undefined {
  const isBare = (item: unknown): item is Reference => isReference(item) && !isLazyList(item);
  return Array.isArray(tree) && tree.every(isBare) ? tree.map((item) => item[REFERENCE]) : undefined;
}

/** Whether a tree is a long list of messages, which can be read synchronously at any time. */
function isLazyList(tree: unknown): boolean {
  return isReference(tree) && MESSAGES in tree;
}

function textOf(item: unknown): string {
  return isReference(item) ? reference(item[REFERENCE]) : JSON.stringify(item);
}

/** Sets an ordinary property, also one called `__proto__`. */
function define(target: object, key: PropertyKey, { value }: { value: unknown }): void {
  if (key !== "__proto__" && !Object.hasOwn(target, key))
    (target as Record<PropertyKey, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
