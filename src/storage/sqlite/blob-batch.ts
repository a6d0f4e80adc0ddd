import type { Blob, BlobKind } from "../codec/index.ts";
import { bytesOf, HASH_BYTES, SEAL_BYTES } from "../store/index.ts";
import type { Connection } from "./database/index.ts";

/** Larger blobs come one by one. */
const MAX_BYTES = 65_536;

/**
 * libsql makes an object of every value that it returns, and for small blobs that takes longer than all the rest. So
 * many of them come in three values: what is said of each, their hashes and seals, and their kinds and bodies.
 */
const PACKED = `SELECT
    CAST(group_concat(id || ' ' || thread || ' ' || octet_length(kind) || ' ' || octet_length(body), ' ') AS BLOB) AS heads,
    CAST(group_concat(hash || seal, '') AS BLOB) AS checks,
    CAST(group_concat(kind || char(10) || body, '') AS BLOB) AS bodies
  FROM blobs WHERE id IN (SELECT value FROM json_each(?)) AND octet_length(body) <= ${MAX_BYTES}`;

export interface PackedBlob {
  id: number;
  /** Bytes as characters. */
  hash: string;
  seal: string;
  /** Kind and body as they are hashed. */
  named: Uint8Array;
  blob: Blob;
}

/** Reads small blobs; those that are large, missing or damaged in some ways are left out. */
export function* readPacked(connection: Connection, ids: readonly number[]): Generator<PackedBlob> {
  const row = connection.get(PACKED, [JSON.stringify(ids)]) as Record<string, Uint8Array | null>;
  if (!row["heads"] || !row["checks"] || !row["bodies"]) return;
  const heads = bytesOf(row["heads"]).toString("latin1").split(" ").map(Number);
  const checks = bytesOf(row["checks"]).toString("latin1");
  const bodies = bytesOf(row["bodies"]);
  if (!isAligned(heads, checks, bodies)) return;
  const text = bodies.toString();
  // Then each character is a byte, and all texts are parts of this one.
  const isAscii = text.length === bodies.length;
  for (let head = 0, check = 0, start = 0; head < heads.length; head += 4) {
    const [id, thread, kindSize, size] = [heads[head]!, heads[head + 1]!, heads[head + 2]!, heads[head + 3]!];
    const body = start + kindSize + 1;
    const end = body + size;
    const seal = check + HASH_BYTES;
    const textOf = (from: number, to: number): string =>
      isAscii ? text.slice(from, to) : bodies.toString("utf8", from, to);
    const kind = textOf(start, body - 1) as BlobKind;
    yield {
      id,
      hash: checks.slice(check, seal),
      seal: checks.slice(seal, seal + SEAL_BYTES),
      named: bodies.subarray(start, end),
      blob: {
        thread,
        kind,
        size,
        body: kind === "bytes" ? Buffer.from(bodies.subarray(body, end)) : textOf(body, end),
      },
    };
    check = seal + SEAL_BYTES;
    start = end;
  }
}

/** What is null in a damaged row is missing in one value and not in the others. */
function isAligned(heads: readonly number[], checks: string, bodies: Buffer): boolean {
  let size = 0;
  for (let head = 0; head < heads.length; head += 4) size += heads[head + 2]! + 1 + heads[head + 3]!;
  return checks.length === (heads.length / 4) * (HASH_BYTES + SEAL_BYTES) && bodies.length === size;
}
