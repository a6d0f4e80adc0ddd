/**
 * What a blob holds: `json` is text for LangGraph's serializer, `bytes` are bytes, `tree` is text of our own with
 * references in it, `list` and `record` are the numbers of blobs to be joined into one array or object.
 */
export type BlobKind = "json" | "bytes" | "tree" | "list" | "record";

/** A blob as it is in the file. */
export interface Blob {
  readonly thread: number;
  readonly kind: BlobKind;
  readonly size: number;
  /** Undefined once it has been parsed. */
  body: string | Uint8Array | undefined;
  /** What a reader made of the body. Blobs are kept and read again, so nobody gets it; they get copies. */
  parsed?: unknown;
}

/** So many characters and bytes are kept, or twice as many. */
const MAX_SIZE = 16_000_000;

/** The blobs that were last read or written, so that who reads a thread again does not read the file again. */
export class Recent {
  #young = new Map<number, Blob>();
  #old = new Map<number, Blob>();
  #size = 0;

  get(id: number): Blob | undefined {
    const young = this.#young.get(id);
    if (young) return young;
    const old = this.#old.get(id);
    if (old) this.add(id, old);
    return old;
  }

  add(id: number, blob: Blob): void {
    if (blob.size > MAX_SIZE / 2) return;
    this.#young.set(id, blob);
    this.#size += blob.size;
    if (this.#size <= MAX_SIZE) return;
    [this.#old, this.#young, this.#size] = [this.#young, new Map(), 0];
  }

  clear(): void {
    [this.#old, this.#young, this.#size] = [new Map(), new Map(), 0];
  }
}
