/**
 * The content of a blob: `json` is text for LangGraph's serializer, `bytes` are bytes, `tree` is our own JSON with
 * references in it, `list` and `record` are the numbers of the blobs that form one array or object.
 */
export type BlobKind = "json" | "bytes" | "tree" | "list" | "record";

export interface Blob {
  readonly thread: number;
  readonly kind: BlobKind;
  /** Its size in bytes, contents included. */
  size: number;
  /** Undefined once it has been parsed. */
  body: string | Uint8Array | undefined;
  /** The parsed body. Blobs are cached, so readers get copies of it. */
  parsed?: unknown;
  /** The blobs that it refers to, where it consists of references. */
  parts?: readonly number[];
  /** The messages of a complete chunk that has been read. */
  contents?: ChunkContents;
}

/** The messages of a chunk, and the encoded reference of each. */
export interface ChunkContents {
  readonly messages: readonly Blob[];
  readonly texts: readonly string[];
}

/** The store that an encoder writes to: adds a blob, unless it exists, and returns its number. */
export interface BlobSink {
  put(thread: number, kind: BlobKind, body: string | Uint8Array): number;
}

/** The store that a decoder reads from, by number; throws when a blob is missing or does not match its checksum. */
export interface BlobSource {
  read(thread: number, ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>>;
  /** Caches the contents of a chunk with its blob, so that one lookup finds all. */
  keepContents(thread: number, id: number, contents: ChunkContents): void;
}

/** The size of a generation in bytes; there are two. */
const MAX_SIZE = 16_000_000;
/** The overhead of a cached blob in bytes. */
const BLOB_SIZE = 400;
/** The number of threads in a generation: more than are active at a time. */
const MAX_THREADS = 128;

/** A cache of recently used blobs, in two generations: when the young one is full, it replaces the old one. */
export class BlobCache<Key = number, Value extends Blob = Blob> {
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();
  #size = 0;
  #threads = new Set<number>();

  get count(): number {
    return this.#young.size + this.#old.size;
  }

  get(id: Key): Value | undefined {
    const young = this.#young.get(id);
    if (young) return young;
    const old = this.#old.get(id);
    if (old) this.add(id, old);
    return old;
  }

  add(id: Key, blob: Value): void {
    if (blob.size > MAX_SIZE / 2) return;
    this.#young.set(id, blob);
    this.#size += blob.size + BLOB_SIZE;
    this.#threads.add(blob.thread);
    if (this.#size > MAX_SIZE || this.#threads.size > MAX_THREADS) this.#startGeneration(this.#young);
  }

  /** Moves the messages of a chunk into its blob. */
  keepContents(id: Key, parts: readonly Key[], contents: ChunkContents): void {
    const blob = this.get(id);
    const size = contents.messages.reduce((sum, message) => sum + message.size + BLOB_SIZE, blob?.size ?? 0);
    if (!blob || blob.contents || size > MAX_SIZE / 2) return;
    for (const part of [id, ...parts]) this.#drop(part);
    blob.contents = contents;
    blob.size = size;
    this.add(id, blob);
  }

  #drop(id: Key): void {
    const young = this.#young.get(id);
    if (young) this.#size -= young.size + BLOB_SIZE;
    this.#young.delete(id);
    this.#old.delete(id);
  }

  clear(): void {
    this.#startGeneration(new Map());
  }

  #startGeneration(old: Map<Key, Value>): void {
    [this.#old, this.#young, this.#size, this.#threads] = [old, new Map(), 0, new Set()];
  }
}
