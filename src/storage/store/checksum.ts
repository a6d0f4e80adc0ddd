import { hash } from "node:crypto";

export const SEAL_BYTES = 8;
export const HASH_BYTES = 16;

/** The checksum of a row, over some of its columns, in their order. */
export function sealOf(table: string, columns: readonly string[], row: Record<string, unknown>): Buffer {
  return Buffer.from(sealText(table, columns, row), "latin1");
}

/** The same, each byte a character. Bytes in the row may be, too. */
export function sealText(table: string, columns: readonly string[], row: Record<string, unknown>): string {
  // With its length in front of each part, no two rows read the same.
  let text = table;
  for (const column of columns) {
    const value = row[column];
    const part = value instanceof Uint8Array ? bytesOf(value).toString("latin1") : String(value);
    text += value === null ? " -" : ` ${part.length}:${part}`;
  }
  return digestText("sha1", text, SEAL_BYTES);
}

/** The first bytes of a hash, each a character: Node takes twice as long to make a buffer of it. */
function digestText(algorithm: "sha1" | "sha256", content: string | Uint8Array, bytes: number): string {
  return hash(algorithm, content, "binary").slice(0, bytes);
}

/** Without a copy: rows are sealed and checked by the thousand. */
export function bytesOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** The name of a blob's content. */
export function hashOf(kind: string, body: string | Uint8Array): Buffer {
  const name = `${kind}\n`;
  const named = typeof body === "string" ? name + body : Buffer.concat([Buffer.from(name), body]);
  return Buffer.from(digestOf(named), "latin1");
}

export function digestOf(named: string | Uint8Array): string {
  return digestText("sha256", named, HASH_BYTES);
}
