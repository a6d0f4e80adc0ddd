import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { HarnessError } from "../../errors.ts";
import {
  BLOBS,
  CHECKPOINTS,
  Connection,
  copyHeld,
  HEADS,
  ITEMS,
  THREADS,
  WRITES,
} from "../sqlite/database/index.ts";
import {
  checkFormat,
  firstPage,
  formatOf,
  hasContent,
  headerDamage,
  isLonger,
  openDatabase,
  openFile,
  PAGE_BYTES,
  readStart,
  SCHEMA_VERSION,
  upgrade,
} from "../sqlite/file/index.ts";
import { LEDGER_TABLES } from "../sqlite/index.ts";
import type { Problem } from "./problem.ts";
import { logDamage } from "./wal.ts";

/** A thread store of today's format: the file itself, or a copy in which was put right what stood in the way. */
export interface Readable {
  connection: Connection;
  /** What was wrong with the file as such. */
  problems: Problem[];
  close: () => void;
}

const TABLES = [THREADS, BLOBS, CHECKPOINTS, WRITES, HEADS, ITEMS, ...LEDGER_TABLES];

/**
 * Opens a thread store to be looked through, however damaged, and leaves it as it is. Throws when there is no such
 * file, when it comes from a newer version, and when nothing in it is ours.
 */
export async function openReadable(path: string): Promise<Readable> {
  const file = resolve(path);
  if (!hasContent(file)) throw new HarnessError("storage-failed", `There is no thread store at ${file}.`);
  const log = logDamage(file);
  const inLog: Problem[] = log === undefined ? [] : [{ what: log }];
  let damage = headerDamage(file) ?? (isLonger(file) ? "its header is damaged" : undefined);
  let isEarlier = false;
  const connection = damage === undefined ? await openDamaged(file) : undefined;
  if (connection) {
    const { isComplete } = tablesOf(connection);
    const format = attempt(() => formatOf(connection));
    if (isComplete && format === SCHEMA_VERSION) {
      return { connection, problems: inLog, close: () => connection.close() };
    }
    connection.close();
    checkFormat(file, format ?? 0);
    if (isComplete) damage = "its header is damaged";
    else isEarlier = format !== undefined && format < SCHEMA_VERSION;
  }
  const folder = mkdtempSync(join(tmpdir(), "holdfast-readable-"));
  try {
    const copy = copyInto(folder, file);
    const found = await (isEarlier ? upToDate(copy, file) : restored(copy, file, damage));
    const close = (): void => {
      found.connection.close();
      rmSync(folder, { recursive: true });
    };
    return { ...found, problems: [...inLog, ...found.problems], close };
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
}

/** The newest part of a store is in the log beside it. */
function copyInto(folder: string, file: string): string {
  const copy = join(folder, "threads.db");
  for (const suffix of ["", "-wal"]) {
    if (existsSync(file + suffix)) copyHeld(file + suffix, copy + suffix);
  }
  return copy;
}

type Found = Omit<Readable, "close">;

/** Rows of earlier formats have no checksums; those that are damaged get none now, and so are found out. */
async function upToDate(copy: string, file: string): Promise<Found> {
  const connection = await Connection.open(copy, { of: file });
  try {
    upgrade(connection, { damaged: "leave" });
    return { connection, problems: [] };
  } catch (error) {
    connection.close();
    if (!(error instanceof HarnessError) || error.code !== "storage-corrupt") throw error;
    throw unreadable(file, "it has an earlier format, and its pages are damaged", { cause: error });
  }
}

/**
 * The header and the list of tables, which are the first page, are the same in all stores but for some counters. So
 * they can be had from a new one; that they fit is shown by the checksums of the rows that are read with them.
 */
async function restored(copy: string, file: string, damage: string | undefined): Promise<Found> {
  const [fresh, compact] = await firstPages(join(copy, ".."));
  const own = readStart(copy, PAGE_BYTES);
  const listed = [own, fresh, compact].map((page) => firstPage({ header: fresh, tables: page }));
  let best = { whole: 0, page: listed[0]! };
  for (const page of listed) {
    await putFirstPage(copy, page);
    const connection = await openDamaged(copy, file);
    const whole = connection ? tablesOf(connection).whole : 0;
    connection?.close();
    if (whole > best.whole) best = { whole, page };
  }
  await putFirstPage(copy, best.page);
  const connection = best.whole > 0 ? await openDamaged(copy, file) : undefined;
  if (!connection) throw unreadable(file, damage ?? "its first page is damaged");
  const isListLost = best.page !== listed[0];
  const problems = [
    ...(damage === undefined ? [] : [{ what: damage }]),
    ...(isListLost ? [{ what: "its list of tables is damaged" }] : []),
  ];
  return { connection, problems };
}

/** To be read: what is in the log stays there, however often it is tried. Undefined where SQLite cannot even begin. */
async function openDamaged(file: string, of = file): Promise<Connection | undefined> {
  try {
    return await openFile(file, "read", of);
  } catch (error) {
    if (error instanceof HarnessError && error.code === "storage-corrupt") return undefined;
    throw error;
  }
}

/** The first page of a new store, and that of a backup, which has its tables in another order. */
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

/** Not `corrupt`, which sends people to where they are. */
function unreadable(file: string, what: string, options?: ErrorOptions): HarnessError {
  return new HarnessError(
    "storage-corrupt",
    `${file} is no Holdfast thread store, or so damaged that nothing can be saved: ${what}. It was left as it is.`,
    options,
  );
}

/** Enough to tell a table by. */
const SOME = 50;

/** Whether all tables can be read, and in how many of them are rows that match their checksum. */
function tablesOf(connection: Connection): { isComplete: boolean; whole: number } {
  const found = TABLES.map((table) =>
    attempt(() => {
      const rows = connection.all(`SELECT ${table.columns} FROM ${table.name} LIMIT ${SOME}`);
      return rows.some((row) => table.isWhole(row));
    }),
  );
  return { isComplete: !found.includes(undefined), whole: found.filter(Boolean).length };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
