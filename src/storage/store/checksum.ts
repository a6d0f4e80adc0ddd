import { hash } from "node:crypto";

const CHECKSUM_BYTES = 8;
export const HASH_BYTES = 16;

/** The checksum of a row, over some of its columns, in their order. */
export function checksumOf(table: string, columns: readonly string[], row: Record<string, unknown>): Buffer {
  return Buffer.from(checksumText(table, columns, row), "latin1");
}

/** The same checksum with each byte as a character. Bytes in the row may be characters, too. */
export function checksumText(
  table: string,
  columns: readonly string[],
  row: Record<string, unknown>,
): string {
  // Each part has its length in front, so that different rows never give the same text.
  let text = table;
  for (const column of columns) {
    const value = row[column];
    const part =
      value instanceof Uint8Array
        ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1")
        : String(value);
    text += value === null ? " -" : ` ${part.length}:${part}`;
  }
  return digestText("sha1", text, CHECKSUM_BYTES);
}

/** The first bytes of a hash, each as a character: Node needs twice the time to create a buffer. */
function digestText(algorithm: "sha1" | "sha256", content: string | Uint8Array, bytes: number): string {
  return hash(algorithm, content, "binary").slice(0, bytes);
}

/** The hash that blobs are addressed by. */
export function contentHash(kind: string, body: string | Uint8Array): Buffer {
  const prefix = `${kind}\n`;
  const content = typeof body === "string" ? prefix + body : Buffer.concat([Buffer.from(prefix), body]);
  return Buffer.from(contentDigest(content), "latin1");
}

/** The same hash of kind and body joined, each byte a character. */
export function contentDigest(content: string | Uint8Array): string {
  return digestText("sha256", content, HASH_BYTES);
}
