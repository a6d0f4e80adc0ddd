import { createHash } from "node:crypto";
import type { HarnessError } from "../errors.ts";
import { corrupt, type Connection } from "./connection.ts";
import { toText } from "./table.ts";
import { BLOBS } from "./tables.ts";

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
    const hash = hashOf(kind, body);
    const name = hash.toString("latin1");
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const id = this.#find(thread, hash) ?? this.#insert(thread, hash, { kind, body });
    this.#known.set(name, id);
    return id;
  }

  /** Drops what is remembered: after a rollback, blobs that were just written are gone again. */
  forget(thread = 0): void {
    this.#known = new Map();
    this.#thread = thread;
  }

  /** Reads blobs of a thread by number; throws when one is missing or is not what was written. */
  read(thread: number, ids: readonly number[]): Map<number, Blob> {
    const rows = BLOBS.all(this.#connection, "WHERE id IN (SELECT value FROM json_each(?))", [
      JSON.stringify(ids),
    ]);
    const blobs = new Map<number, Blob>();
    for (const { id, kind, body, ...row } of rows) {
      if (row.thread !== thread || !hashOf(kind, body).equals(row.hash)) throw this.#damaged(id);
      blobs.set(id, { kind: kind as BlobKind, body: kind === "bytes" ? body : toText(body) });
    }
    const missing = ids.find((id) => !blobs.has(id));
    if (missing !== undefined) throw corrupt(this.#connection.path, `blob ${missing} is missing`);
    return blobs;
  }

  #find(thread: number, hash: Buffer): number | undefined {
    const found = BLOBS.get(this.#connection, "WHERE thread = ? AND hash = ?", [thread, hash]);
    if (found && !hashOf(found.kind, found.body).equals(hash)) throw this.#damaged(found.id);
    return found?.id;
  }

  #insert(thread: number, hash: Buffer, { kind, body }: Blob): number {
    const { last } = this.#connection.get("SELECT max(id) AS last FROM blobs") as { last: number | null };
    const id = (last ?? 0) + 1;
    BLOBS.put(this.#connection, { id, thread, hash, kind, body: Buffer.from(body) });
    return id;
  }

  #damaged(id: number): HarnessError {
    return corrupt(this.#connection.path, `blob ${id} does not match its checksum`);
  }
}

/** The name of a blob's content. */
export function hashOf(kind: string, body: string | Uint8Array): Buffer {
  return createHash("sha256").update(kind).update("\n").update(body).digest().subarray(0, 16);
}
