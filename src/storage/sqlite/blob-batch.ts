import type { Blob, BlobKind } from "../codec/index.ts";
import { bytesOf, CHECKSUM_BYTES, HASH_BYTES } from "../store/index.ts";
import type { Connection } from "./database/index.ts";

/** Larger blobs are read one by one. */
const MAX_BYTES = 65_536;

/**
 * libsql creates an object for every value that it returns, and for small blobs that takes longer than all the rest. So
 * many blobs are selected as three values: their numbers and sizes, their hashes and checksums, their kinds and bodies.
 */
const SELECT_BATCH = `SELECT
    CAST(group_concat(id || ' ' || thread || ' ' || octet_length(kind) || ' ' || octet_length(body), ' ') AS BLOB) AS heads,
    CAST(group_concat(hash || seal, '') AS BLOB) AS checks,
    CAST(group_concat(kind || char(10) || body, '') AS BLOB) AS bodies
  FROM blobs WHERE id IN (SELECT value FROM json_each(?)) AND octet_length(body) <= ${MAX_BYTES}`;

export interface BatchedBlob {
  id: number;
  /** Bytes as characters. */
  hash: string;
  seal: string;
  /** Kind and body, the input of the hash. */
  content: Uint8Array;
  blob: Blob;
}

/** Reads small blobs; large, missing and some damaged ones are left out. */
export function* readBlobBatch(connection: Connection, ids: readonly number[]): Generator<BatchedBlob> {
  const row = connection.get(SELECT_BATCH, [JSON.stringify(ids)]) as Record<string, Uint8Array | null>;
  if (!row["heads"] || !row["checks"] || !row["bodies"]) return;
  const heads = bytesOf(row["heads"]).toString("latin1").split(" ").map(Number);
  const checks = bytesOf(row["checks"]).toString("latin1");
  const bodies = bytesOf(row["bodies"]);
  if (!isAligned(heads, checks, bodies)) return;
  const text = bodies.toString();
  // Then each character is a byte, and all texts are slices of this one.
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
      seal: checks.slice(seal, seal + CHECKSUM_BYTES),
      content: bodies.subarray(start, end),
      blob: {
        thread,
        kind,
        size,
        body: kind === "bytes" ? Buffer.from(bodies.subarray(body, end)) : textOf(body, end),
      },
    };
    check = seal + CHECKSUM_BYTES;
    start = end;
  }
}

/** Whether the three values fit together: a damaged row with a null is missing in one of them. */
function isAligned(heads: readonly number[], checks: string, bodies: Buffer): boolean {
  let size = 0;
  for (let head = 0; head < heads.length; head += 4) size += heads[head + 2]! + 1 + heads[head + 3]!;
  return checks.length === (heads.length / 4) * (HASH_BYTES + CHECKSUM_BYTES) && bodies.length === size;
}
