import type { HarnessError } from "../../errors.ts";
import { BlobCache, type Blob, type BlobKind, type ChunkContents } from "../codec/index.ts";
import { contentDigest, contentHash, HASH_BYTES } from "../store/index.ts";
import { BLOBS, corrupt, toBytes, type Connection } from "./database/index.ts";

const MAX_HASHES = 50_000;

const NEWLINE = 10;

/** Selects rows of only four values: libsql takes longer to return a value than SQLite to find it. */
const SELECT = `SELECT id, CAST(thread AS INTEGER) AS thread, CAST(hash || seal AS BLOB) AS checks, CAST(kind || char(${NEWLINE}) || body AS BLOB) AS content
  FROM blobs WHERE id IN (SELECT value FROM json_each(?))`;

/** The table of blobs, which are content-addressed: each is written once per thread and never changed. */
export class Blobs {
  readonly #connection: Connection;
  /** Stored blobs of `#thread`, by hash. */
  #hashes = new Map<string, number>();
  #thread = 0;
  readonly #cache = new BlobCache();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Stores a blob, unless it exists, and returns its number. Call inside a transaction. */
  put(thread: number, kind: BlobKind, body: string | Uint8Array): number {
    if (thread !== this.#thread || this.#hashes.size > MAX_HASHES) this.#forget(thread);
    const hash = contentHash(kind, body);
    const name = hash.toString("latin1");
    const stored = this.#hashes.get(name);
    if (stored !== undefined) return stored;
    const id = this.#insert(thread, hash, { kind, body }) ?? this.#find(thread, hash);
    this.#hashes.set(name, id);
    return id;
  }

  /** Clears the caches: after a rollback, blobs that were just written are gone. */
  rollBack(): void {
    this.#forget(0);
    this.#cache.clear();
  }

  #forget(thread: number): void {
    this.#hashes = new Map();
    this.#thread = thread;
  }

  /** Reads blobs of a thread by number; throws when one is missing or does not match its checksum. */
  read(thread: number, ids: readonly number[]): Map<number, Blob> {
    const blobs = new Map<number, Blob>();
    const uncached: number[] = [];
    for (const id of ids) {
      const cached = this.#cache.get(id);
      if (cached?.thread === thread) blobs.set(id, cached);
      else uncached.push(id);
    }
    if (uncached.length > 0) this.#fetch(thread, uncached, blobs);
    return blobs;
  }

  keepContents(_thread: number, id: number, contents: ChunkContents): void {
    this.#cache.keepContents(id, this.#cache.get(id)?.parts ?? [], contents);
  }

  #fetch(thread: number, ids: readonly number[], blobs: Map<number, Blob>): void {
    for (const row of this.#connection.all(SELECT, [JSON.stringify(ids)])) {
      const id = row["id"] as number;
      const checks = toBytes(row["checks"]).toString("latin1");
      const hash = checks.slice(0, HASH_BYTES);
      const content = toBytes(row["content"]);
      const isIntact =
        row["thread"] === thread &&
        BLOBS.hasChecksum(checks.slice(HASH_BYTES), { id, thread, hash }) &&
        contentDigest(content) === hash;
      if (!isIntact) throw this.#damaged(id);
      const start = content.indexOf(NEWLINE) + 1;
      const kind = content.toString("latin1", 0, start - 1) as BlobKind;
      const body = kind === "bytes" ? Buffer.from(content.subarray(start)) : content.toString("utf8", start);
      const blob = { thread, kind, size: content.length - start, body };
      blobs.set(id, blob);
      this.#cache.add(id, blob);
    }
    const missing = ids.find((id) => !blobs.has(id));
    if (missing !== undefined) throw corrupt(this.#connection.path, `blob ${missing} is missing`);
  }

  #find(thread: number, hash: Buffer): number {
    const row = BLOBS.get(this.#connection, "WHERE thread = ? AND hash = ?", [thread, hash]);
    if (!row) throw corrupt(this.#connection.path, "the numbers of its blobs are out of order");
    if (!contentHash(row.kind, row.body).equals(hash)) throw this.#damaged(row.id);
    return row.id;
  }

  /** Returns the number of a new blob, or undefined if it exists. */
  #insert(
    thread: number,
    hash: Buffer,
    { kind, body }: { kind: BlobKind; body: string | Uint8Array },
  ): number | undefined {
    const { last } = this.#connection.get("SELECT max(id) AS last FROM blobs") as { last: number | null };
    const id = (last ?? 0) + 1;
    const bytes = Buffer.from(body);
    if (!BLOBS.add(this.#connection, { id, thread, hash, kind, body: bytes })) return undefined;
    const content = typeof body === "string" ? body : bytes;
    this.#cache.add(id, { thread, kind, size: bytes.length, body: content });
    return id;
  }

  #damaged(id: number): HarnessError {
    return corrupt(this.#connection.path, `blob ${id} does not match its checksum`);
  }
}
