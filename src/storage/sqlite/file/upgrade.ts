import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../../errors.ts";
import { contentHash } from "../../store/index.ts";
import {
  BLOBS,
  CHECKPOINTS,
  corrupt,
  LEASES,
  THREADS,
  toText,
  WRITES,
  type Connection,
  type Row,
} from "../database/index.ts";
import { LatestCheckpoints } from "../latest-checkpoints.ts";
import { isAlive } from "../leases.ts";
import { checkFormat } from "./header.ts";
import { MIGRATIONS, SCHEMA_VERSION } from "./schema.ts";

/** The first format with checksums. */
const FIRST_WITH_CHECKSUMS = 3;
const BATCH = 500;

/** Upgrades a file of an earlier format in one transaction. With `damaged: "leave"` damaged blobs stay, without a checksum. */
export function upgrade(
  connection: Connection,
  { damaged = "refuse" }: { damaged?: "refuse" | "leave" } = {},
): void {
  if (supportedFormat(connection) === SCHEMA_VERSION) return;
  if (connection.isReadOnly) {
    throw new HarnessError(
      "storage-version",
      `${connection.path} has an earlier format. To be read it must be written to, which you may not: copy it to a place of yours.`,
    );
  }
  connection.transaction(() => {
    // Another process may have been faster.
    const format = supportedFormat(connection);
    if (format === SCHEMA_VERSION) return;
    for (const step of MIGRATIONS.slice(format - 1)) connection.exec(step);
    if (format < FIRST_WITH_CHECKSUMS) addChecksums(connection, damaged);
    connection.exec(`PRAGMA store.user_version = ${SCHEMA_VERSION}`);
  });
}

/** The format of a file; read by SQLite, as the newest header may be in the log. */
export function formatOf(connection: Connection): number {
  return connection.get("PRAGMA store.user_version")?.["user_version"] as number;
}

function supportedFormat(connection: Connection): number {
  const format = formatOf(connection);
  checkFormat(connection.path, format);
  return format;
}

/** Gives every row its checksum. Blobs are verified by the hash of their content, which they always had. */
function addChecksums(connection: Connection, damaged: "refuse" | "leave"): void {
  refuseWhileUsed(connection);
  connection.exec("DELETE FROM leases");
  for (const row of inBatches(connection, "blobs", "id")) {
    const blob = BLOBS.decode(row);
    if (!contentHash(blob.kind, blob.body).equals(blob.hash)) {
      if (damaged === "leave") continue;
      throw corrupt(connection.path, `blob ${blob.id} does not match its checksum`);
    }
    connection.run("UPDATE blobs SET seal = ? WHERE id = ?", [BLOBS.checksum(blob), blob.id]);
  }
  for (const row of connection.all(`SELECT ${WRITES.columns} FROM writes`)) {
    WRITES.put(connection, WRITES.decode(row));
  }
  recount(connection);
}

/** Records the number of rows and the newest checkpoints, so that missing ones are noticed from then on. */
export function recount(connection: Connection): void {
  connection.exec(`UPDATE checkpoints SET writes = (
    SELECT count(*) FROM writes w WHERE w.thread = checkpoints.thread AND w.ns = checkpoints.ns AND w.checkpoint = checkpoints.id)`);
  for (const row of inBatches(connection, "checkpoints", "seq")) {
    const checkpoint = CHECKPOINTS.decode(row);
    connection.run("UPDATE checkpoints SET seal = ? WHERE seq = ?", [
      CHECKPOINTS.checksum(checkpoint),
      checkpoint.seq,
    ]);
  }
  recordLatest(connection);
  recordThreads(connection);
}

/** Throws while an earlier Holdfast uses the file: it would go on to write rows without checksums. */
function refuseWhileUsed(connection: Connection): void {
  const leases = connection.all(`SELECT ${LEASES.columns} FROM leases`).map((row) => LEASES.decode(row));
  const holder = leases.find(isAlive);
  if (!holder) return;
  throw new HarnessError(
    "storage-version",
    `${connection.path} is in use by an earlier Holdfast, process ${holder.pid} on ${holder.host}. Wait for it or stop it; then the file can be brought up to date.`,
  );
}

/** Records the newest checkpoint in each namespace, and the number of checkpoints. */
function recordLatest(connection: Connection): void {
  const latest = new LatestCheckpoints(connection);
  const rows = connection.all(
    `SELECT thread, CAST(ns AS BLOB) AS ns, CAST(id AS BLOB) AS id, max(seq) AS seq, count(*) AS count,
       (SELECT count(*) FROM writes w WHERE w.thread = c.thread AND w.ns = c.ns AND w.checkpoint = c.id) AS pending
     FROM checkpoints c GROUP BY thread, c.ns`,
  );
  for (const row of rows) {
    const { thread, seq, count, pending } = row as Record<string, number>;
    const [ns, id] = [toText(row["ns"]), toText(row["id"])];
    latest.put({ thread: thread!, ns, seq: seq!, id, count: count!, pending: pending! });
  }
}

/** Fills the columns of the index that earlier formats lack, and records the number of threads. */
function recordThreads(connection: Connection): void {
  connection.run(
    `UPDATE threads SET
       seq = coalesce((SELECT seq FROM checkpoints c WHERE c.thread = threads.key AND c.ns = '' AND c.id = threads.checkpoint), 0),
       interrupted = EXISTS (
         SELECT 1 FROM writes w
         WHERE w.thread = threads.key AND w.ns = '' AND w.checkpoint = threads.checkpoint AND w.channel = ?
       )`,
    [INTERRUPT],
  );
  const threads = connection.all(`SELECT ${THREADS.columns} FROM threads`).map((row) => THREADS.decode(row));
  for (const thread of threads) {
    connection.run("UPDATE threads SET seal = ? WHERE key = ?", [THREADS.checksum(thread), thread.key]);
  }
  new LatestCheckpoints(connection).setThreadCount(threads.length);
}

function* inBatches(connection: Connection, table: "blobs" | "checkpoints", key: string): Generator<Row> {
  const { columns } = table === "blobs" ? BLOBS : CHECKPOINTS;
  const sql = `SELECT ${columns} FROM ${table} WHERE ${key} > ? ORDER BY ${table}.${key} LIMIT ${BATCH}`;
  for (let last = -1; ;) {
    const rows = connection.all(sql, [last]);
    if (rows.length === 0) return;
    yield* rows;
    last = rows.at(-1)![key] as number;
  }
}
