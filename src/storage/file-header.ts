import { closeSync, openSync, readSync, statSync } from "node:fs";
import { HarnessError } from "../errors.ts";
import { corrupt } from "./connection.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/**
 * Looks at a file before SQLite does, because opening it would already write beside it. Returns false when there is
 * nothing yet; throws when the file is not ours, is cut short, or comes from a newer version.
 */
export function inspectFile(path: string): boolean {
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 };
  if (size === 0) return false;
  const header = readHeader(path);
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    throw corrupt(path, "it is not a SQLite database");
  }
  if (header.readUInt32BE(68) !== APPLICATION_ID) {
    throw corrupt(path, "it is the SQLite database of another program");
  }
  checkFormat(path, header.readUInt32BE(60));
  const expected = expectedSize(header);
  // A process killed while it copied its log into the file leaves a short file, and the log that completes it.
  if (size < expected && !hasContent(`${path}-wal`) && !hasContent(`${path}-journal`)) {
    throw corrupt(path, `it is cut short (${size} of ${expected} bytes)`);
  }
  return true;
}

/** Throws `storage-version` for a format that is newer than ours. */
export function checkFormat(path: string, format: number): void {
  if (format <= SCHEMA_VERSION) return;
  throw new HarnessError(
    "storage-version",
    `${path} was written by a newer Holdfast (format ${format}; this one reads ${SCHEMA_VERSION}). Update Holdfast, or use another file.`,
  );
}

function readHeader(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const header = Buffer.alloc(HEADER_BYTES);
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0));
  } finally {
    closeSync(file);
  }
}

/** The number of pages in the header counts only when it was written together with the change counter. */
function expectedSize(header: Buffer): number {
  const pageSize = header.readUInt16BE(16);
  const current = header.readUInt32BE(24) === header.readUInt32BE(92);
  return current ? header.readUInt32BE(28) * (pageSize === 1 ? 65_536 : pageSize) : 0;
}

export function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
