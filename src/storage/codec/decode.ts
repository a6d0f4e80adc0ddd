import { load } from "@langchain/core/load";
import { BaseMessage } from "@langchain/core/messages";
import { DeltaSnapshot, type SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { chunkOf, isWhole } from "./chunk-tree.ts";
import { MESSAGES, REFERENCE, reference, SNAPSHOT } from "./encode.ts";
import { UNDEFINED } from "./json.ts";
import { madeLater } from "./lazy-list.ts";
import type { Memo } from "./memo.ts";
import { WATCHED, type Lists, type Prefix } from "./message-lists.ts";
import type { Blob, BlobSource } from "./recent-blobs.ts";
import { LATE, reviving, type Make } from "./revive.ts";

const CONSTRUCTOR = '{"lc":1,"type":"constructor"';
/** After so many blobs others have their turn. */
const SLICE = 500;
/** A list of messages as long as this is made when it is looked at. */
const LONG = 200;

type Json = Record<string, unknown>;
type Reference = { [REFERENCE]: number };

export interface DecodeContext {
  blobs: BlobSource;
  memo: Memo;
  lists: Lists;
  thread: number;
  serde: SerializerProtocol;
}

export interface DecodeOptions {
  isLazy?: boolean;
  isFetched?: boolean;
}

/**
 * Reads back what `Encoder` wrote. A message that stands in several places is one object in all that one decoder
 * reads, as it was in the run that saved it; no two decoders give out the same object.
 */
export class Decoder {
  readonly #context: DecodeContext;
  /** Whether long lists of messages are read only when somebody looks at them. */
  readonly #isLazy: boolean;
  /** Whether these, too, are fetched beforehand: who looks at them cannot wait. */
  readonly #isFetched: boolean;
  readonly #blobs = new Map<number, Blob>();
  /** The finished values of `json` blobs. */
  readonly #values = new Map<number, unknown>();
  /** The items of chunks that have nothing but messages. */
  readonly #messages = new Map<number, readonly object[]>();
  /** Objects inside trees that only the serializer can read. */
  readonly #revived = new Map<object, unknown>();
  /** Lists of messages that were built. */
  readonly #lists = new Set<number>();
  #pending: Promise<void>[] = [];

  constructor(context: DecodeContext, { isLazy = false, isFetched = false }: DecodeOptions = {}) {
    this.#context = context;
    this.#isLazy = isLazy;
    this.#isFetched = isFetched;
  }

  get thread(): number {
    return this.#context.thread;
  }

  /** Fetches all that the trees lead to. Blobs never change: what is read later is what was there at the beginning. */
  async load(trees: readonly unknown[]): Promise<void> {
    let read = 0;
    const levels = this.#levels(this.#referencesIn(trees));
    for (let wanted = levels.next(); !wanted.done;) {
      const found = this.#read(wanted.value);
      read += wanted.value.length;
      wanted = levels.next(found instanceof Promise ? await found : found);
      if (read < SLICE) continue;
      read = 0;
      await new Promise(setImmediate);
    }
    await Promise.all(this.#pending.splice(0));
  }

  /** Puts what a tree stands for into an object. */
  set(target: object, key: PropertyKey, tree: unknown): void {
    if (!this.#isLazy || !isReadLater(tree)) return define(target, key, { value: this.build(tree) });
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

  build(tree: unknown): unknown {
    if (!isObject(tree)) return tree;
    if (Array.isArray(tree)) return this.#watch(this.#items(tree));
    if (this.#revived.has(tree)) return this.#revived.get(tree);
    const target = tree[REFERENCE];
    if (typeof target === "number") return isReadLater(tree) ? this.#messageList(target) : this.#node(target);
    if (SNAPSHOT in tree) return new DeltaSnapshot(this.build(tree[SNAPSHOT]));
    return this.#fill({}, tree);
  }

  /** The trees of the last items of a list, without fetching the others. */
  async lastOf(tree: unknown, count: number): Promise<unknown[]> {
    if (Array.isArray(tree)) return count > 0 ? tree.slice(-count) : [];
    if (!isReference(tree)) return [];
    const id = tree[REFERENCE];
    const blob = (await this.#read([id])).get(id)!;
    this.#parse(id, blob);
    if (blob.kind === "tree") return this.lastOf(blob.parsed, count);
    const found: unknown[] = [];
    for (const part of blob.kind === "list" ? (blob.parsed as number[]).toReversed() : []) {
      if (found.length >= count) break;
      found.unshift(...(await this.lastOf({ [REFERENCE]: part }, count - found.length)));
    }
    return found;
  }

  #items(trees: readonly unknown[]): unknown[] {
    const made: unknown[] = [];
    for (let at = 0; at < trees.length; at++) this.set(made, at, trees[at]);
    return made;
  }

  #fill(made: object, tree: object): object {
    for (const [key, value] of Object.entries(tree)) {
      this.set(made, key.startsWith(REFERENCE) ? key.slice(1) : key, value);
    }
    return made;
  }

  #node(id: number): unknown {
    if (!this.#blobs.has(id)) this.#fetchNow(id);
    const blob = this.#blobs.get(id)!;
    if (blob.kind === "json") return this.#value(id, blob);
    if (blob.kind === "bytes") return Uint8Array.from(blob.body as Uint8Array);
    if (blob.kind === "tree") return blob.gathered ? this.#list(id) : this.build(blob.parsed);
    return blob.kind === "list" ? this.#list(id) : this.#record(id);
  }

  #value(id: number, blob: Blob): unknown {
    const value = this.#make(id, blob);
    this.#place(value, id);
    return value;
  }

  #make(id: number, { parsed }: Blob): unknown {
    if (this.#values.has(id)) return this.#values.get(id);
    const value = (parsed as Make)();
    this.#values.set(id, value);
    return value;
  }

  /** A message that goes back as it came is not stored again: written out, some differ from what they were read from. */
  #place(value: unknown, id: number): void {
    const { memo, thread } = this.#context;
    if (!BaseMessage.isInstance(value) || memo.believe(value, thread)) return;
    memo.place(value, { thread, blob: id, isPlain: this.#blobs.get(id)?.parsed !== LATE });
  }

  #record(id: number): object {
    const made = {};
    for (const part of this.#leaves(id)) this.#fill(made, this.#blobs.get(part)!.parsed as object);
    return made;
  }

  /**
   * LangChain reads a thread before LangGraph does, and looks at no message: those of a long one are made when one is
   * looked at, and at once for who reads next what nobody has looked at.
   */
  #messageList(id: number): unknown[] {
    if (!this.#blobs.has(id)) this.#fetchNow(id);
    const lengths = this.#leaves(id).map((leaf) => (this.#blobs.get(leaf)!.parsed as unknown[]).length);
    const length = lengths.reduce((sum, one) => sum + one, 0);
    const { lists, thread } = this.#context;
    // It may stand in a checkpoint and in what was written to it.
    const isFirst = !this.#lists.has(id);
    this.#lists.add(id);
    if (length < LONG || (isFirst && lists.takeUnseen(thread, id))) return this.#list(id);
    if (isFirst) lists.addUnseen(thread, id);
    return madeLater(length, () => {
      lists.takeUnseen(thread, id);
      return this.#list(id);
    });
  }

  #list(id: number): unknown[] {
    const leaves = this.#leaves(id);
    // `flatMap` takes a microsecond for each of them.
    const items: unknown[] = [];
    for (const leaf of leaves) for (const item of this.#chunk(leaf)) items.push(item);
    this.#remember(leaves);
    // As many as may be looked at when it is saved again: the messages that are watched, and the chunk before them.
    let near = 0;
    for (let at = leaves.length - 1; at >= 0 && near < 2 * WATCHED; at--) {
      const { parsed, gathered } = this.#blobs.get(leaves[at]!)!;
      const chunk = this.#chunk(leaves[at]!);
      for (const [nth, tree] of (parsed as unknown[]).entries()) {
        if (isReference(tree) && (gathered || this.#isJson(tree))) this.#place(chunk[nth], tree[REFERENCE]);
      }
      near += chunk.length;
    }
    return this.#watch(items);
  }

  #chunk(id: number): readonly unknown[] {
    const known = this.#messages.get(id);
    if (known) return known;
    const { parsed, parts, gathered } = this.#blobs.get(id)!;
    let isPlain = true;
    const items: unknown[] = gathered?.messages.map((message, at) => this.#make(parts![at]!, message)) ?? [];
    for (const tree of gathered ? [] : (parsed as unknown[])) {
      const blob = isReference(tree) ? this.#blobs.get(tree[REFERENCE])! : undefined;
      const isMessage = blob?.kind === "json" && blob.parsed !== LATE;
      const item = isMessage ? this.#make((tree as Reference)[REFERENCE], blob) : this.build(tree);
      isPlain &&= isMessage && BaseMessage.isInstance(item);
      items.push(item);
    }
    if (isPlain) this.#messages.set(id, items as object[]);
    return items;
  }

  /** The blobs at the ends of a list or record, in order. */
  #leaves(id: number): number[] {
    const { kind, parsed } = this.#blobs.get(id)!;
    if (kind === "tree") return [id];
    return (parsed as number[]).flatMap((part) => this.#leaves(part));
  }

  /** What is appended to a list of messages is stored beside what is stored of it. */
  #remember(leaves: readonly number[]): void {
    const { lists, thread } = this.#context;
    let prefix: Prefix | undefined;
    for (const id of leaves) {
      const items = this.#messages.get(id);
      const texts = items && this.#textsOf(id);
      if (!texts) return;
      const chunk = { ...chunkOf(prefix?.chunk, texts), id };
      prefix = lists.add({ thread, before: prefix, items, chunk });
    }
  }

  /** What stands in a chunk of messages; undefined where it is not complete. */
  #textsOf(id: number): readonly string[] | undefined {
    const { parsed, parts, gathered } = this.#blobs.get(id)!;
    if (gathered) return gathered.texts;
    const texts = (parsed as unknown[]).map(textOf);
    if (!isWhole(texts)) return undefined;
    const messages = parts?.map((part) => this.#blobs.get(part)!);
    if (messages) this.#context.blobs.gather(this.#context.thread, id, { messages, texts });
    return texts;
  }

  /** The newest messages of a list are compared with what they are now, when the list is saved again. */
  #watch(items: unknown[]): unknown[] {
    const { memo, thread } = this.#context;
    for (const item of items.slice(-WATCHED)) if (isObject(item)) memo.watch(item, thread);
    return items;
  }

  #read(ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>> {
    return this.#context.blobs.read(this.#context.thread, ids);
  }

  /** Fetches what was left out, without waiting: it is all messages. */
  #fetchNow(id: number): void {
    const levels = this.#levels(new Set([id]));
    for (let wanted = levels.next(); !wanted.done;) {
      wanted = levels.next(this.#read(wanted.value) as Map<number, Blob>);
    }
  }

  /** Level by level: says what is wanted next, and is given it. */
  *#levels(wanted: Set<number>): Generator<number[], void, Map<number, Blob>> {
    for (let ids = this.#unknown(wanted); ids.length > 0;) {
      const next = new Set<number>();
      for (let at = 0; at < ids.length; at += SLICE) {
        const slice = ids.slice(at, at + SLICE);
        for (const [id, blob] of yield slice) {
          this.#blobs.set(id, blob);
          this.#parse(id, blob);
          if (blob.kind !== "json" && !blob.gathered) for (const part of this.#partsOf(blob)) next.add(part);
        }
      }
      ids = this.#unknown(next);
    }
  }

  #unknown(ids: Set<number>): number[] {
    return [...ids].filter((id) => !this.#blobs.has(id));
  }

  #parse(id: number, blob: Blob): void {
    if (blob.kind === "bytes") return;
    const { body } = blob;
    if (typeof body === "string") {
      blob.parsed = blob.kind === "json" ? reviving(body) : JSON.parse(body);
      // What has been cut out of a longer text would keep all of it.
      blob.body = blob.parsed === LATE ? Buffer.from(body).toString() : undefined;
    }
    if (blob.parsed === LATE) this.#await(blob.body as string, (value) => this.#values.set(id, value));
  }

  #isJson(tree: Reference): boolean {
    return this.#blobs.get(tree[REFERENCE])?.kind === "json";
  }

  #partsOf(blob: Blob): Iterable<number> {
    const { kind, parsed } = blob;
    if (kind === "tree") return (blob.parts ??= bareReferences(parsed)) ?? this.#referencesIn(parsed);
    return kind === "list" || kind === "record" ? (parsed as number[]) : [];
  }

  #referencesIn(tree: unknown, found = new Set<number>()): Set<number> {
    if (!isObject(tree)) return found;
    if (Object.hasOwn(tree, "lc")) this.#revive(tree);
    else if (this.#isLazy && !this.#isFetched && isReadLater(tree)) return found;
    else if (typeof tree[REFERENCE] === "number") found.add(tree[REFERENCE]);
    else for (const item of Object.values(tree)) this.#referencesIn(item, found);
    return found;
  }

  #revive(record: Json): void {
    const text = JSON.stringify(record);
    const make = text === UNDEFINED ? () => undefined : reviving(text);
    if (make === LATE) this.#await(text, (value) => this.#revived.set(record, value));
    else this.#revived.set(record, make());
  }

  #await(text: string, keep: (value: unknown) => void): void {
    // The serializer reads a message with the same `load`, which refuses what is nested deep; what was saved is read.
    const isMessage = text.startsWith(CONSTRUCTOR) && !text.includes('"lc":2');
    const value = isMessage
      ? load(text, { maxDepth: Number.POSITIVE_INFINITY })
      : this.#context.serde.loadsTyped("json", text);
    const kept = value.then((read) => keep(read));
    // It is looked at when all is fetched; until then Node would take a failure for one that nobody looks at.
    kept.catch(() => {});
    this.#pending.push(kept);
  }
}

function isReference(tree: unknown): tree is Reference {
  return isObject(tree) && typeof tree[REFERENCE] === "number";
}

/** What a list refers to that has nothing but references, as most chunks of messages do. */
function bareReferences(tree: unknown): number[] | undefined {
  const isBare = (item: unknown): item is Reference => isReference(item) && !isReadLater(item);
  return Array.isArray(tree) && tree.every(isBare) ? tree.map((item) => item[REFERENCE]) : undefined;
}

/** Whether a tree stands for a long list of messages, which can be read at once whenever somebody looks at it. */
function isReadLater(tree: unknown): boolean {
  return isReference(tree) && MESSAGES in tree;
}

function textOf(item: unknown): string {
  return isReference(item) ? reference(item[REFERENCE]) : JSON.stringify(item);
}

/** A property like any other, also where its name is that of a prototype. */
function define(target: object, key: PropertyKey, { value }: { value: unknown }): void {
  if (key !== "__proto__" && !Object.hasOwn(target, key))
    (target as Record<PropertyKey, unknown>)[key] = value;
  else Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null;
}
