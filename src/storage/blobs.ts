import { createHash } from "node:crypto";
import { corrupt, type Connection } from "./connection.ts";

/**
 * What a blob holds: `json` is text for LangGraph's serializer, `bytes` are bytes, `tree` is text of our own with
 * references in it, `list` and `record` are the numbers of blobs to be joined into one array or object.
 */
export type BlobKind = "json" | "bytes" | "tree" | "list" | "record";

export interface Blob {
  kind: BlobKind;
  body: string | Uint8Array;
}

const MAX_KNOWN = 50_000;

/** The content-addressed part of the store. A blob is written once per thread and never changed. */
export class Blobs {
  readonly #connection: Connection;
  /** Blobs of `#thread` that are known to be stored, by hash. */
  #known = new Map<string, number>();
  #thread = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Stores a blob, unless it is there already, and returns its number. Call inside a transaction. */
  put(thread: number, kind: BlobKind, body: string | Uint8Array): number {
    if (thread !== this.#thread || this.#known.size > MAX_KNOWN) this.forget(thread);
    const hash = createHash("sha256").update(kind).update("\n").update(body).digest().subarray(0, 16);
    const name = hash.toString("latin1");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#insert([thread, hash, kind, body]) ?? this.#find(thread, hash);
    this.#known.set(name, id);
    return id;
  }

  /** Drops what is remembered: after a rollback, blobs that were just written are gone again. */
  forget(thread = 0): void {
    this.#known = new Map();
    this.#thread = thread;
  }

  /** Reads blobs by number; throws when one is missing. */
  read(ids: readonly number[]): Map<number, Blob> {
    const rows = this.#connection.all(
      "SELECT id, kind, body FROM blobs WHERE id IN (SELECT value FROM json_each(?))",
      [JSON.stringify(ids)],
    );
    if (rows.length < ids.length)
      throw corrupt(this.#connection.path, `it lacks ${ids.length - rows.length} blobs`);
    return new Map(
      rows.map(({ id, kind, body }) => [id as number, { kind: kind as BlobKind, body: toBody(body) }]),
    );
  }

  #insert(params: [number, Uint8Array, BlobKind, string | Uint8Array]): number | undefined {
    const sql = "INSERT INTO blobs (thread, hash, kind, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING";
    const { id, changes } = this.#connection.run(sql, params);
    return changes > 0 ? id : undefined;
  }

  #find(thread: number, hash: Uint8Array): number {
    const row = this.#connection.get("SELECT id FROM blobs WHERE thread = ? AND hash = ?", [thread, hash]);
    return row?.["id"] as number;
  }
}

function toBody(body: unknown): string | Uint8Array {
  return typeof body === "string" ? body : new Uint8Array(body as ArrayBuffer);
}
