/**
 * What a blob holds: `json` is text for LangGraph's serializer, `bytes` are bytes, `tree` is text of our own with
 * references in it, `list` and `record` are the numbers of blobs to be joined into one array or object.
 */
export type BlobKind = "json" | "bytes" | "tree" | "list" | "record";

/** A blob as it is in the file. */
export interface Blob {
  readonly thread: number;
  readonly kind: BlobKind;
  /** How many bytes it takes, with what is kept in it. */
  size: number;
  /** Undefined once it has been parsed. */
  body: string | Uint8Array | undefined;
  /** What a reader made of the body. Blobs are kept and read again, so nobody gets it; they get copies. */
  parsed?: unknown;
  /** The blobs that it refers to, where it is made of nothing else. */
  parts?: readonly number[] | undefined;
  /** Of a complete chunk of messages that has been read, all that it refers to. */
  gathered?: Gathered;
}

/** The messages of a chunk, and what stands for each in it. */
export interface Gathered {
  readonly messages: readonly Blob[];
  readonly texts: readonly string[];
}

/** Where the encoder puts what it writes: stores a blob, unless it is there already, and returns its number. */
export interface BlobSink {
  put(thread: number, kind: BlobKind, body: string | Uint8Array): number;
}

/** Where the decoder finds it again, by number; throws when one is missing or is not what was written. */
export interface BlobSource {
  read(thread: number, ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>>;
  /** Keeps what a blob refers to together with it: whoever reads it again has all of it at once. */
  gather(thread: number, id: number, gathered: Gathered): void;
}

/** So many bytes are kept, or twice as many. */
const MAX_SIZE = 16_000_000;
/** What a blob takes besides what is in it. */
const BLOB_SIZE = 400;
/** Of so many threads, or twice as many: more than are at work at a time, as what is at rest is in the file. */
const MAX_THREADS = 128;

/** The blobs that were last read or written, so that who reads a thread again does not read the file again. */
export class Recent<Key = number, Kept extends Blob = Blob> {
  #young = new Map<Key, Kept>();
  #old = new Map<Key, Kept>();
  #size = 0;
  #threads = new Set<number>();

  /** How many are kept. */
  get count(): number {
    return this.#young.size + this.#old.size;
  }

  get(id: Key): Kept | undefined {
    const young = this.#young.get(id);
    if (young) return young;
    const old = this.#old.get(id);
    if (old) this.add(id, old);
    return old;
  }

  add(id: Key, blob: Kept): void {
    if (blob.size > MAX_SIZE / 2) return;
    this.#young.set(id, blob);
    this.#size += blob.size + BLOB_SIZE;
    this.#threads.add(blob.thread);
    if (this.#size > MAX_SIZE || this.#threads.size > MAX_THREADS) this.#startYoung(this.#young);
  }

  /** Keeps blobs with the one that refers to them, and not on their own any more. */
  gather(id: Key, parts: readonly Key[], gathered: Gathered): void {
    const blob = this.get(id);
    const size = gathered.messages.reduce((sum, message) => sum + message.size + BLOB_SIZE, blob?.size ?? 0);
    if (!blob || blob.gathered || size > MAX_SIZE / 2) return;
    for (const part of [id, ...parts]) this.#drop(part);
    blob.gathered = gathered;
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
    this.#startYoung(new Map());
  }

  #startYoung(old: Map<Key, Kept>): void {
    [this.#old, this.#young, this.#size, this.#threads] = [old, new Map(), 0, new Set()];
  }
}
