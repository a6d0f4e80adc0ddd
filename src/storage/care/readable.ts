import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { attempt, HarnessError } from "../../errors.ts";
import {
  BLOBS,
  CHECKPOINTS,
  Connection,
  copyOpenFile,
  HEADS,
  ITEMS,
  RECORDS,
  THREADS,
  WRITES,
} from "../sqlite/database/index.ts";
import {
  firstPage,
  formatOf,
  hasContent,
  hasExtraPages,
  headerDamage,
  openDatabase,
  openFile,
  otherFormat,
  PAGE_BYTES,
  readStart,
  SCHEMA_VERSION,
  walDamage,
} from "../sqlite/file/index.ts";
import type { Problem } from "./problem.ts";

/** A thread store that can be read: the file itself, or a restored copy. */
export interface ReadableStore {
  connection: Connection;
  problems: Problem[];
  close: () => void;
}

const TABLES = [THREADS, BLOBS, CHECKPOINTS, WRITES, HEADS, ITEMS, ...Object.values(RECORDS)];

/**
 * Opens a thread store for reading, however damaged it is, and does not change it. Throws when there is no such file, when
 * it has another format, and when nothing in it is intact.
 */
export async function openReadable(path: string): Promise<ReadableStore> {
  const file = resolve(path);
  if (!hasContent(file)) throw new HarnessError("storage-failed", `There is no thread store at ${file}.`);
  const log = walDamage(file);
  const logProblems: Problem[] = log === undefined ? [] : [{ what: log.what }];
  let damage = headerDamage(file) ?? (hasExtraPages(file) ? "its header is damaged" : undefined);
  const connection = damage === undefined ? await openDamaged(file) : undefined;
  if (connection) {
    const { isComplete } = tablesOf(connection);
    const format = attempt(() => formatOf(connection));
    if (isComplete && format === SCHEMA_VERSION) {
      return { connection, problems: logProblems, close: () => connection.close() };
    }
    connection.close();
    const isOther =
      format !== undefined && (format > SCHEMA_VERSION || (format < SCHEMA_VERSION && !isComplete));
    if (isOther) throw otherFormat(file, format);
    if (isComplete) damage = "its header is damaged";
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-readable-"));
  try {
    const copy = copyInto(folder, file);
    const store = await restoreFirstPage(copy, file, damage);
    const close = (): void => {
      store.connection.close();
      rmSync(folder, { recursive: true });
    };
    return { ...store, problems: [...logProblems, ...store.problems], close };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** Copies a store and its log, which has the newest commits. */
function copyInto(folder: string, file: string): string {
  const copy = join(folder, "threads.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(file + suffix)) copyOpenFile(file + suffix, copy + suffix);
  }
  return copy;
}

type OpenCopy = Omit<ReadableStore, "close">;

/**
 * Replaces the first page of a copy. It has the header and the schema table, which differ between stores only in some
 * counters, so those of a new store are tried; the checksums of rows show which of them fit.
 */
async function restoreFirstPage(copy: string, file: string, damage: string | undefined): Promise<OpenCopy> {
  const [fresh, compact] = await firstPages(join(copy, ".."));
  const original = readStart(copy, PAGE_BYTES);
  const candidates = [original, fresh, compact].map((page) => firstPage({ header: fresh, tables: page }));
  let best = { intact: 0, page: candidates[0]! };
  for (const page of candidates) {
    await putFirstPage(copy, page);
    const connection = await openDamaged(copy, file);
    const intact = connection ? tablesOf(connection).intact : 0;
    connection?.close();
    if (intact > best.intact) best = { intact, page };
  }
  await putFirstPage(copy, best.page);
  const connection = best.intact > 0 ? await openDamaged(copy, file) : undefined;
  if (!connection) throw unreadable(file, damage ?? "its first page is damaged");
  const isListLost = best.page !== candidates[0];
  const problems = [
    ...(damage === undefined ? [] : [{ what: damage }]),
    ...(isListLost ? [{ what: "its list of tables is damaged" }] : []),
  ];
  return { connection, problems };
}

/** Opens a file for reading, which leaves its log unchanged. Returns undefined when SQLite cannot open it. */
async function openDamaged(file: string, of = file): Promise<Connection | undefined> {
  try {
    return await openFile(file, "read", of);
  } catch (error) {
    if (error instanceof HarnessError && error.code === "storage-corrupt") return undefined;
    throw error;
  }
}

/** The first pages of a new store and of a backup, which has its tables in a different order. */
async function firstPages(folder: string): Promise<[Buffer, Buffer]> {
  const [fresh, compact] = [join(folder, "fresh.db"), join(folder, "compact.db")];
  const connection = await openDatabase(fresh);
  connection.run("VACUUM store INTO ?", [compact]);
  connection.close();
  return [readStart(fresh, PAGE_BYTES), readStart(compact, PAGE_BYTES)];
}

async function putFirstPage(copy: string, page: Buffer): Promise<void> {
  const file = await open(copy, "r+");
  try {
    const { size } = await file.stat();
    page.writeUInt32BE(Math.floor(size / PAGE_BYTES), 28);
    await file.write(page, 0, PAGE_BYTES, 0);
  } finally {
    await file.close();
  }
}

/** The error for a store that cannot be repaired; that of `corrupt` would recommend a repair. */
function unreadable(file: string, what: string): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${file} is no Holdfast thread store, or so damaged that nothing can be saved: ${what}. It was left as it is.`,
  );
}

/** The number of rows that are read to recognise a table. */
const SAMPLE_ROWS = 50;

/** Whether all tables can be read, and the number of tables with rows that match their checksum. */
function tablesOf(connection: Connection): { isComplete: boolean; intact: number } {
  const results = TABLES.map((table) =>
    attempt(() => table.intact(connection, `LIMIT ${SAMPLE_ROWS}`).length > 0),
  );
  return { isComplete: !results.includes(undefined), intact: results.filter(Boolean).length };
}
