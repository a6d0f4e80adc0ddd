import { readSync, statSync } from "node:fs";
import { HarnessError } from "../../../errors.ts";
import { corrupt, withDescriptor, type Connection } from "../database/index.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";

const HEADER_BYTES = 100;
/** The page size of all stores, which is SQLite's default. */
export const PAGE_BYTES = 4096;
const MAGIC = "SQLite format 3\0";
/** The fixed parts of a header: page size, journal mode, reserved bytes, SQLite's constants, schema format, UTF-8. */
const FIXED = /^1000(0101|0202)00402020 00000004 00000001$/;

/**
 * Checks the header of a file before SQLite opens it and creates files next to it. Returns false for an empty or missing
 * file; throws when the file is not a thread store, is truncated, or comes from a newer version.
 */
export function inspectFile(path: string): boolean {
  if (!hasContent(path)) return false;
  const damage = headerDamage(path);
  if (damage !== undefined) throw corrupt(path, damage);
  return true;
}

/** The damage in the header of a file, if any. Throws when it comes from a newer version. */
export function headerDamage(path: string): string | undefined {
  const header = readStart(path, HEADER_BYTES);
  if (header.length < HEADER_BYTES || header.toString("latin1", 0, MAGIC.length) !== MAGIC) {
    return "it is not a SQLite database";
  }
  const fixed = [header.subarray(16, 24), header.subarray(44, 48), header.subarray(56, 60)];
  if (!FIXED.test(fixed.map((part) => part.toString("hex")).join(" "))) return "its header is damaged";
  if (header.readUInt32BE(68) !== APPLICATION_ID) return "it is the SQLite database of another program";
  const format = header.readUInt32BE(60);
  if (format > SCHEMA_VERSION) throw otherFormat(path, format);
  const { size } = statSync(path);
  const expected = expectedSize(header);
  // A process that is killed during a checkpoint of its log leaves a short file, and the log that completes it.
  const isCut = size < expected && !hasContent(`${path}-wal`) && !hasContent(`${path}-journal`);
  return isCut ? `it is cut short (${size} of ${expected} bytes)` : undefined;
}

/** Whether a file has more pages than in its header, and no log that explains it: SQLite may be unable to write. */
export function hasExtraPages(path: string): boolean {
  const expected = expectedSize(readStart(path, HEADER_BYTES));
  return expected > 0 && statSync(path).size > expected && !hasContent(`${path}-wal`);
}

/** Combines the header of one file with the schema table of another into a first page. */
export function firstPage({ header, tables }: { header: Buffer; tables: Buffer }): Buffer {
  const page = Buffer.alloc(PAGE_BYTES);
  tables.copy(page, 0, 0, PAGE_BYTES);
  header.copy(page, 0, 0, HEADER_BYTES);
  return page;
}

/** The format of a file, as SQLite reads it: the newest header may be in the log. */
export function formatOf(connection: Connection): number {
  return connection.get("PRAGMA store.user_version")?.["user_version"] as number;
}

export function otherFormat(path: string, format: number): HarnessError {
  const version = format > SCHEMA_VERSION ? "a newer" : "an earlier";
  return new HarnessError(
    "storage-version",
    `${path} was written by ${version} Holdfast (format ${format}; this one reads ${SCHEMA_VERSION}). Use that version, or another file.`,
  );
}

/** The first bytes of a file; fewer where it is shorter. */
export function readStart(path: string, bytes: number): Buffer {
  const start = Buffer.alloc(bytes);
  return withDescriptor(path, (file) => start.subarray(0, readSync(file, start, 0, bytes, 0)));
}

/** The size by the page count in the header, which is valid only with the same change counter; else 0. */
function expectedSize(header: Buffer): number {
  const current = header.readUInt32BE(24) === header.readUInt32BE(92);
  return current ? header.readUInt32BE(28) * PAGE_BYTES : 0;
}

export function hasContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}
