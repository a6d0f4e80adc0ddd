import { randomUUID } from "node:crypto";
import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { attempt, HarnessError } from "../../../errors.ts";
import { Connection, corrupt, isOpenHere, MEMORY } from "../database/index.ts";
import { formatOf, hasContent, headerDamage, inspectFile, otherFormat } from "./header.ts";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { walDamage } from "./wal.ts";

/** A file up to this size is checked whole when it is opened; that takes some milliseconds per megabyte. */
const CHECKED_BYTES = 32 * 1024 * 1024;
/** The size of the log at which it is written back to the file, which ends with a flush to the disk. */
const LOG_PAGES = 1000;

/** Opens a thread store, and creates it with its folders when there is none. */
export async function openDatabase(path: string): Promise<Connection> {
  if (path === MEMORY) {
    const memory = await Connection.open(path);
    memory.exec(SCHEMA);
    return memory;
  }
  const file = resolve(path);
  try {
    if (!inspectFile(file)) await createFile(file);
    else checkLog(file);
  } catch (error) {
    if (error instanceof HarnessError) throw error;
    const { message } = error as Error;
    throw new HarnessError("storage-failed", `${file} could not be opened: ${message}`, { cause: error });
  }
  const connection = await openFile(file, "write");
  try {
    if (!connection.isReadOnly) setPragmas(connection);
    checkPages(connection);
    if (formatOf(connection) !== SCHEMA_VERSION) throw otherFormat(file, formatOf(connection));
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Throws when the newest commits are missing in the log: to continue without them would repeat tool calls. */
function checkLog(file: string): void {
  const damage = isOpenHere(file) ? undefined : walDamage(file);
  if (!damage) return;
  if (!damage.isPowerCut) throw corrupt(file, damage.what);
  process.emitWarning(`${file}: a power cut has undone the newest commits.`);
}

/** Opens an existing file, or a copy `of` it. One without write permission is opened for reading. */
export async function openFile(file: string, access: "write" | "read", of = file): Promise<Connection> {
  if (access === "write" && isWritable(file)) return Connection.open(file, { of });
  try {
    return await Connection.open(file, { access: "read", of });
  } catch (error) {
    if (!(error instanceof HarnessError) || error.code !== "storage-failed") throw error;
    // SQLite cannot create its own files here. Without a log it needs none.
    if (!hasContent(`${file}-wal`)) return Connection.open(file, { access: "frozen", of });
    throw new HarnessError(
      "storage-failed",
      `${file} may only be read, and its newest part is still in ${file}-wal: copy both to a place of yours.`,
      { cause: error },
    );
  }
}

function isWritable(file: string): boolean {
  const paths = [file, dirname(file)];
  return attempt(() => paths.map((path) => accessSync(path, constants.W_OK))) !== undefined;
}

function setPragmas(connection: Connection): void {
  // With a write-ahead log a commit is one append to the log; readers and a writer do not wait for each other.
  // NORMAL leaves out the flush to the disk at each commit. A killed process loses nothing by that, because the
  // operating system already has the bytes; a power cut may undo the last commits, whole ones, newest first.
  connection.all("PRAGMA store.journal_mode = WAL");
  connection.exec("PRAGMA store.synchronous = NORMAL");
  connection.exec(`PRAGMA store.journal_size_limit = ${LOG_PAGES * 4096}`);
  connection.all(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
}

/**
 * Creates the file under another name first, so that it is complete under its own. The link fails when another process
 * was faster, and then its file is used.
 */
async function createFile(file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // An empty file is filled in place: to replace it could delete one that another process has just created.
  if (existsSync(file)) return fill(file);
  const draft = `${file}.${randomUUID()}.new`;
  try {
    await fill(draft, file);
    chmodSync(draft, 0o600);
    publish(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}

function publish(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch {
    // The file system has no links, or the name is taken: a copy that never overwrites fails only for the latter.
    if (!existsSync(file)) copyFileSync(draft, file, constants.COPYFILE_EXCL);
  }
}

/** Creates the tables in an empty file, which becomes the file `of` this name. */
async function fill(file: string, of = file): Promise<void> {
  const connection = await Connection.open(file, { of });
  try {
    // One transaction, including the pragma: a full disk or a kill leaves the file empty.
    connection.exec(
      `BEGIN; PRAGMA store.auto_vacuum = INCREMENTAL; ${SCHEMA} PRAGMA store.application_id = ${APPLICATION_ID}; PRAGMA store.user_version = ${SCHEMA_VERSION}; COMMIT;`,
    );
    connection.exec("PRAGMA store.journal_mode = WAL");
  } catch (error) {
    // Rolls the transaction back.
    connection.close();
    // The tables are there when another process was faster.
    if (!hasContent(file) || headerDamage(file) !== undefined) throw error;
  } finally {
    connection.close();
  }
}

/** Checks all pages of a small file, and the index of threads of a large one: a thread missing there would seem new. */
function checkPages(connection: Connection): void {
  const isLarge = statSync(connection.path).size > CHECKED_BYTES;
  for (const part of isLarge ? ["threads", "heads"] : ["1"]) {
    const [row] = connection.all(`PRAGMA store.integrity_check(${part})`);
    const result = row?.["integrity_check"];
    if (result !== "ok") throw corrupt(connection.path, `its pages are damaged (${String(result)})`);
  }
}
