import type { Blob, BlobCache, BlobKind, BlobSink, BlobSource, ChunkContents } from "../../codec/index.ts";
import { contentHash } from "../../store/index.ts";
import { BLOBS, corrupt, type Database, type Row } from "../database/index.ts";

export interface HashedBlob extends Blob {
  hash: string;
}

/** A cache of blobs of all threads, by thread and number. */
export type SharedBlobCache = BlobCache<string, HashedBlob>;

/** A blob that is not written yet. */
export interface NewBlob {
  id: number;
  kind: BlobKind;
  body: string | Uint8Array;
  hash: string;
}

const MAX_HASHES = 50_000;

/**
 * The blobs of one thread. Its only writer assigns the numbers, without a query. Content that this process has neither
 * written nor read may be stored again.
 */
export class ThreadBlobs implements BlobSink, BlobSource {
  readonly #database: Database;
  readonly #cache: SharedBlobCache;
  #hashes = new Map<string, number>();
  #newBlobs: NewBlob[] = [];
  #last: number;

  constructor(database: Database, cache: SharedBlobCache, last: number) {
    this.#database = database;
    this.#cache = cache;
    this.#last = last;
  }

  get last(): number {
    return this.#last;
  }

  put(_thread: number, kind: BlobKind, body: string | Uint8Array): number {
    const hash = contentHash(kind, body).toString("latin1");
    const stored = this.#hashes.get(hash);
    if (stored !== undefined) return stored;
    this.#last += 1;
    this.#addHash(hash, this.#last);
    this.#newBlobs.push({ id: this.#last, kind, body, hash });
    return this.#last;
  }

  /** Removes and returns the blobs that are to be written. */
  take(): NewBlob[] {
    const newBlobs = this.#newBlobs;
    this.#newBlobs = [];
    return newBlobs;
  }

  /** Caches blobs that were written. */
  keep(thread: number, newBlobs: readonly NewBlob[]): void {
    for (const { id, kind, body, hash } of newBlobs) {
      this.#cache.add(`${thread} ${id}`, { thread, kind, size: body.length, body, hash });
    }
  }

  read(thread: number, ids: readonly number[]): Map<number, Blob> | Promise<Map<number, Blob>> {
    const blobs = new Map<number, Blob>();
    const missing: number[] = [];
    for (const id of ids) {
      const cached = this.#cache.get(`${thread} ${id}`);
      if (cached) this.#add(blobs, id, cached);
      else missing.push(id);
    }
    return missing.length === 0 ? blobs : this.#fetch(thread, missing, blobs);
  }

  keepContents(thread: number, id: number, contents: ChunkContents): void {
    const key = `${thread} ${id}`;
    const parts = this.#cache.get(key)?.parts ?? [];
    this.#cache.keepContents(
      key,
      parts.map((part) => `${thread} ${part}`),
      contents,
    );
  }

  async #fetch(thread: number, ids: readonly number[], blobs: Map<number, Blob>): Promise<Map<number, Blob>> {
    const rows = await this.#database.query({
      name: "holdfast-blobs",
      text: `SELECT id, kind, body, seal FROM ${this.#database.schema}.blobs WHERE thread = $1 AND id = ANY($2::int[])`,
      values: [thread, ids],
    });
    for (const row of rows) {
      const blob = blobOf(thread, row);
      const id = row["id"] as number;
      if (!blob) throw corrupt(this.#database, `blob ${id} does not match its checksum`);
      this.#cache.add(`${thread} ${id}`, blob);
      this.#add(blobs, id, blob);
    }
    const missing = ids.find((id) => !blobs.has(id));
    if (missing !== undefined) throw corrupt(this.#database, `blob ${missing} is missing`);
    return blobs;
  }

  #add(blobs: Map<number, Blob>, id: number, blob: HashedBlob): void {
    blobs.set(id, blob);
    this.#addHash(blob.hash, id);
    blob.contents?.messages.forEach((message, at) =>
      this.#addHash((message as HashedBlob).hash, blob.parts![at]!),
    );
  }

  #addHash(hash: string, id: number): void {
    if (this.#hashes.size > MAX_HASHES) this.#hashes.clear();
    this.#hashes.set(hash, id);
  }
}

/** The blob in a row; undefined if it does not match its checksum. */
export function blobOf(thread: number, { id, kind, body, seal }: Row): HashedBlob | undefined {
  const content = kind === "bytes" ? Buffer.from(body as string, "base64") : (body as string);
  const hash = contentHash(kind as BlobKind, content);
  if (!BLOBS.isIntact({ thread, id, hash, seal })) return undefined;
  return {
    thread,
    kind: kind as BlobKind,
    size: content.length,
    body: content,
    hash: hash.toString("latin1"),
  };
}
