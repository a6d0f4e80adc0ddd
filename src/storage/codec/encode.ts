import { BaseMessage } from "@langchain/core/messages";
import { isDeltaSnapshot } from "@langchain/langgraph-checkpoint";
import type { BlobSink } from "./blob-cache.ts";
import { appendChunk, isCompleteChunk, storeTree, toChunks, type ChunkSequence } from "./chunk-tree.ts";
import { isObject, isSend, MAX_DEPTH, sendFields, toJson, tooDeep, UNDEFINED } from "./json.ts";
import type { Memo } from "./memo.ts";
import { WATCHED_MESSAGES, type MessageLists, type Prefix } from "./message-lists.ts";
import { isPlainMessage } from "./revive.ts";

/** Longer text gets a blob of its own, and is then stored once however often it recurs. */
const INLINE_CHARS = 128;
/** A longer list or record is cut into chunks. */
const MAX_UNCHUNKED_CHARS = 512;
/** A list with more items is always longer than that: a reference and its comma take 8 characters. */
const MAX_INLINE_ITEMS = MAX_UNCHUNKED_CHARS / 8;

/** The prefix of reserved keys; a user's key that starts with it gets a second one. */
export const REFERENCE = "~";
export const SNAPSHOT = "~s";
/** Marks a reference to a long list of messages that can all be read synchronously. */
export const MESSAGES = "~m";

export interface EncodeOptions {
  blobs: BlobSink;
  memo: Memo;
  lists: MessageLists;
  thread: number;
}

/**
 * Writes values as JSON in which everything large is a reference to a blob. Arrays and plain objects are walked, so
 * a message is stored once wherever it occurs: in a list, in a pending write, in the state that a `Send` carries.
 * An object with a key `lc` is LangChain's or the serializer's and is never walked. Call inside a transaction.
 */
export class Encoder {
  readonly #options: EncodeOptions;
  readonly #path: object[] = [];

  constructor(options: EncodeOptions) {
    this.#options = options;
  }

  encode(value: unknown): string {
    const text = this.#text(value);
    return text.length <= INLINE_CHARS ? text : reference(this.#put("tree", text));
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
    if (value instanceof Uint8Array) return reference(this.#put("bytes", value));
    if (isDeltaSnapshot(value)) return `{"${SNAPSHOT}":${this.encode(value.value)}}`;
    if (isSend(value)) return this.#record({ ...sendFields(value) });
    if (isWalkable(value)) return this.#record(value);
    return this.#opaque(value);
  }

  /** Skips the prefix of a list that is stored already: see `MessageLists`. */
  #list(items: readonly unknown[]): string {
    const { lists, thread } = this.#options;
    const isLong = items.length > MAX_INLINE_ITEMS;
    const stored = isLong ? lists.find(thread, items) : undefined;
    const start = stored?.length ?? 0;
    const texts: string[] = [];
    // Only a change, removal or insertion leaves more than the watched messages and a chunk to encode.
    if (items.length - start > 2 * WATCHED_MESSAGES) this.#recall(items.slice(start));
    for (let at = start; at < items.length; at++) {
      texts.push(this.#item(items[at], at < items.length - WATCHED_MESSAGES));
    }
    const whole = stored ? undefined : `[${texts.join(",")}]`;
    if (whole !== undefined && whole.length <= MAX_UNCHUNKED_CHARS) {
      // The list may have been longer before, and may grow again.
      lists.keepOnly(undefined, { thread, items, from: 0 });
      return whole;
    }
    const { sequence, prefix } = this.#toSequence(items, texts, stored);
    const root = storeTree(sequence, "tree", (kind, group) => this.#put(kind, `[${group.join(",")}]`));
    const isPlain = this.#isPlain(items.slice(prefix?.length ?? 0));
    return isPlain ? `{"${REFERENCE}":${root},"${MESSAGES}":1}` : reference(root);
  }

  /** Remembers the blobs of the messages after a change, which are stored already. */
  #recall(items: readonly unknown[]): void {
    const { lists, memo, thread } = this.#options;
    for (const { all, length, chunk } of lists.chunksEndingIn(thread, items)) {
      for (const [at, text] of chunk.texts.entries()) {
        const item = all[length - chunk.texts.length + at]!;
        if (memo.findUnchecked(item, thread)) continue;
        const { [REFERENCE]: blob } = JSON.parse(text) as { [REFERENCE]: number };
        memo.remember(item, { thread, blob, isPlain: true });
      }
    }
  }

  #item(item: unknown, isOld: boolean): string {
    const { memo, thread } = this.#options;
    const location = isOld && isObject(item) ? memo.findUnchecked(item, thread) : undefined;
    return location ? reference(location.blob) : this.encode(item);
  }

  /** Cuts texts into chunks, and remembers the complete ones up to the first that has more than messages. */
  #toSequence(
    items: readonly unknown[],
    texts: readonly string[],
    stored: Prefix | undefined,
  ): { sequence: ChunkSequence; prefix: Prefix | undefined } {
    const { lists, thread } = this.#options;
    const chunks = toChunks(texts);
    const open = chunks.length > 0 && !isCompleteChunk(chunks.at(-1)!) ? chunks.pop()! : [];
    let prefix = stored;
    let last = stored?.chunk;
    let length = stored?.length ?? 0;
    for (const chunk of chunks) {
      const start = length;
      length += chunk.length;
      last = appendChunk(last, chunk);
      const part = items.slice(start, length);
      if (start !== (prefix?.length ?? 0) || !this.#isPlain(part)) continue;
      prefix = lists.add({ thread, before: prefix, items: part, chunk: last });
      last = prefix.chunk;
    }
    lists.keepOnly(prefix, { thread, items, from: stored?.length ?? 0 });
    return { sequence: { last, open }, prefix };
  }

  #isPlain(items: readonly unknown[]): items is object[] {
    const { memo, thread } = this.#options;
    return items.every((item) => isObject(item) && memo.findUnchecked(item, thread)?.isPlain);
  }

  #record(record: object): string {
    const texts: string[] = [];
    for (const [key, value] of Object.entries(record) as [string, unknown][]) {
      if (typeof value === "function" || typeof value === "symbol") continue;
      const name = key.startsWith(REFERENCE) ? REFERENCE + key : key;
      texts.push(`${JSON.stringify(name)}:${this.encode(value)}`);
    }
    const whole = `{${texts.join(",")}}`;
    if (whole.length <= MAX_UNCHUNKED_CHARS) return whole;
    let ids = toChunks(texts).map((chunk) => this.#put("tree", `{${chunk.join(",")}}`));
    while (ids.length > 1) {
      const groups = toChunks(ids.map(String));
      // If every number ends a chunk, one node takes them all.
      const next = groups.length < ids.length ? groups : [ids];
      ids = next.map((group) => this.#put("record", `[${group.join(",")}]`));
    }
    return reference(ids[0]!);
  }

  #opaque(value: object): string {
    const { memo, thread } = this.#options;
    const isMessage = BaseMessage.isInstance(value);
    const location = isMessage ? memo.find(value, thread) : undefined;
    if (location) return reference(location.blob);
    const text = toJson(value);
    if (text.length <= INLINE_CHARS && !text.includes(`"${REFERENCE}`)) return text;
    const blob = this.#options.blobs.put(thread, "json", text);
    if (isMessage) {
      memo.remember(value, { thread, blob, isPlain: isPlainMessage(text) });
      memo.watch(value, thread);
    }
    return reference(blob);
  }

  #put(kind: "tree" | "bytes" | "list" | "record", body: string | Uint8Array): number {
    return this.#options.blobs.put(this.#options.thread, kind, body);
  }
}

export function reference(blob: number): string {
  return `{"${REFERENCE}":${blob}}`;
}

/** Whether an object is stored key by key. */
export function isWalkable(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  return !Object.hasOwn(value, "lc") && typeof (value as { toJSON?: unknown }).toJSON !== "function";
}

/** The numbers of the blobs that a blob or a text refers to. */
export function blobReferences(kind: string, text: string | Uint8Array): number[] {
  if (kind === "json" || kind === "bytes") return [];
  const content: unknown = JSON.parse(typeof text === "string" ? text : Buffer.from(text).toString());
  return kind === "tree" ? referencesIn(content) : (content as number[]);
}

/** The numbers of the blobs that a tree refers to; the serializer's objects contain no references. */
function referencesIn(tree: unknown): number[] {
  if (typeof tree !== "object" || tree === null || Object.hasOwn(tree, "lc")) return [];
  const target = (tree as Record<string, unknown>)[REFERENCE];
  return typeof target === "number" ? [target] : Object.values(tree).flatMap(referencesIn);
}
