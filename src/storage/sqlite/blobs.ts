import type { HarnessError } from "../../errors.ts";
import { Recent, type Blob, type BlobKind, type Gathered } from "../codec/index.ts";
import { digestOf, hashOf } from "../store/index.ts";
import { readPacked } from "./blob-batch.ts";
import { BLOBS, corrupt, toText, type Connection } from "./database/index.ts";

const MAX_KNOWN = 50_000;

/** The name of the newest blob's number among what is known. */
const LAST = "last blob";

/** The content-addressed part of the store. A blob is written once per thread and never changed. */
export class Blobs {
  readonly #connection: Connection;
  /** Blobs of `#thread` that are known to be stored, by hash. */
  #known = new Map<string, number>();
  #thread = 0;
  readonly #recent = new Recent();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Stores a blob, unless it is there already, and returns its number. Call inside a transaction. */
  put(thread: number, kind: BlobKind, body: string | Uint8Array): number {
    if (thread !== this.#thread || this.#known.size > MAX_KNOWN) this.#forget(thread);
    const hash = hashOf(kind, body);
    const name = hash.toString("latin1");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#insert(thread, hash, { kind, body }) ?? this.#find(thread, hash);
    this.#known.set(name, id);
    return id;
  }

  /** Drops what is remembered: after a rollback, blobs that were just written are gone again. */
  rollBack(): void {
    this.#forget(0);
    this.#recent.clear();
  }

  #forget(thread: number): void {
    this.#known = new Map();
    this.#thread = thread;
  }

  /** Reads blobs of a thread by number; throws when one is missing or is not what was written. */
  read(thread: number, ids: readonly number[]): Map<number, Blob> {
    const blobs = new Map<number, Blob>();
    const unknown: number[] = [];
    for (const id of ids) {
      const recent = this.#recent.get(id);
      if (recent?.thread === thread) blobs.set(id, recent);
      else unknown.push(id);
    }
    if (unknown.length > 0) this.#fetch(thread, unknown, blobs);
    return blobs;
  }

  gather(_thread: number, id: number, gathered: Gathered): void {
    this.#recent.gather(id, this.#recent.get(id)?.parts ?? [], gathered);
  }

  #fetch(thread: number, ids: readonly number[], blobs: Map<number, Blob>): void {
    const add = (id: number, blob: Blob): void => {
      blobs.set(id, blob);
      this.#recent.add(id, blob);
    };
    for (const { id, hash, seal, named, blob } of readPacked(this.#connection, ids)) {
      const isWhole = BLOBS.isSealed(seal, { id, thread: blob.thread, hash }) && digestOf(named) === hash;
      if (!isWhole || blob.thread !== thread) throw this.#damaged(id);
      add(id, blob);
    }
    const others = ids.filter((id) => !blobs.has(id));
    if (others.length === 0) return;
    const where = "WHERE id IN (SELECT value FROM json_each(?))";
    const rows = BLOBS.all(this.#connection, where, [JSON.stringify(others)]);
    for (const { id, kind, body, ...row } of rows) {
      if (row.thread !== thread || !hashOf(kind, body).equals(row.hash)) throw this.#damaged(id);
      const content = kind === "bytes" ? Buffer.from(body) : toText(body);
      add(id, { thread, kind: kind as BlobKind, size: body.length, body: content });
    }
    const missing = others.find((id) => !blobs.has(id));
    if (missing !== undefined) throw corrupt(this.#connection.path, `blob ${missing} is missing`);
  }

  #find(thread: number, hash: Buffer): number {
    const found = BLOBS.get(this.#connection, "WHERE thread = ? AND hash = ?", [thread, hash]);
    if (!found) throw corrupt(this.#connection.path, "the numbers of its blobs are out of order");
    if (!hashOf(found.kind, found.body).equals(hash)) throw this.#damaged(found.id);
    return found.id;
  }

  /** Returns undefined where it is there already. */
  #insert(
    thread: number,
    hash: Buffer,
    { kind, body }: { kind: BlobKind; body: string | Uint8Array },
  ): number | undefined {
    const { known } = this.#connection;
    const id = known.get(LAST, () => this.#last()) + 1;
    const bytes = Buffer.from(body);
    if (!BLOBS.add(this.#connection, { id, thread, hash, kind, body: bytes })) return undefined;
    known.set(LAST, id);
    const kept = typeof body === "string" ? body : bytes;
    this.#recent.add(id, { thread, kind, size: bytes.length, body: kept });
    return id;
  }

  #last(): number {
    const { last } = this.#connection.get("SELECT max(id) AS last FROM blobs") as { last: number | null };
    return last ?? 0;
  }

  #damaged(id: number): HarnessError {
    return corrupt(this.#connection.path, `blob ${id} does not match its checksum`);
  }
}
