import { corrupt, type Connection } from "./connection.ts";

const HASH_BYTES = 16;
const SEAL_BYTES = 8;
const NEW_LINE = 0x0a;
/** Larger blobs come one by one. */
const MAX_BYTES = 65_536;

/**
 * libsql makes an object of every value that it returns, and for small blobs that takes longer than all the rest. So
 * many of them come as one value: each a line with its number, owner and size, then hash, seal, kind and body.
 */
const PACKED = `SELECT CAST(group_concat(
    id || ' ' || thread || ' ' || length(CAST(body AS BLOB)) || char(10) || hash || seal || kind || char(10) || body, ''
  ) AS BLOB) AS packed
  FROM blobs WHERE id IN (SELECT value FROM json_each(?)) AND length(body) <= ${MAX_BYTES}`;

export interface PackedBlob {
  id: number;
  thread: number;
  hash: Buffer;
  seal: Buffer;
  kind: string;
  body: Buffer;
  /** Kind and body as they are hashed. */
  named: Buffer;
}

/** Reads small blobs; those that are large, missing or damaged in some ways are left out. */
export function* readPacked(connection: Connection, ids: readonly number[]): Generator<PackedBlob> {
  const packed = connection.get(PACKED, [JSON.stringify(ids)])?.["packed"] as Uint8Array | null;
  if (!packed) return;
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  for (let at = 0; at < bytes.length;) {
    const line = bytes.indexOf(NEW_LINE, at);
    const [id, thread, size] = bytes.toString("latin1", at, line).split(" ").map(Number);
    const [hash, seal] = [line + 1, line + 1 + HASH_BYTES];
    const kind = seal + SEAL_BYTES;
    const body = bytes.indexOf(NEW_LINE, kind) + 1;
    const end = body + size!;
    // Where a part has another length than it was given, the next line is none.
    if (line < 0 || body === 0 || !(end > at) || end > bytes.length) {
      throw corrupt(connection.path, "a row of its table blobs is damaged");
    }
    yield {
      id: id!,
      thread: thread!,
      hash: bytes.subarray(hash, seal),
      seal: bytes.subarray(seal, kind),
      kind: bytes.toString("latin1", kind, body - 1),
      body: bytes.subarray(body, end),
      named: bytes.subarray(kind, end),
    };
    at = end;
  }
}
