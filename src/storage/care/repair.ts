import { randomUUID } from "node:crypto";
import { existsSync, renameSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { INTERRUPT } from "@langchain/langgraph-checkpoint";
import { attempt, HarnessError } from "../../errors.ts";
import {
  BLOBS,
  CHECKPOINTS,
  corrupt,
  HEADS,
  ITEMS,
  LEASES,
  RECORDS,
  THREADS,
  WRITES,
  type Connection,
  type HeadRow,
  type ThreadRow,
} from "../sqlite/database/index.ts";
import { openDatabase } from "../sqlite/file/index.ts";
import { isAlive, LatestCheckpoints, SqliteSaver } from "../sqlite/index.ts";
import { FileSurvey } from "./file-survey.ts";
import type { Problem, Progress } from "./problem.ts";
import { openReadable } from "./readable.ts";

/** The outcome of `repairStore`. */
export interface Repair {
  /** The problems of the old file; damaged content is missing in the new one. */
  problems: Problem[];
  /** The path of the old file; undefined when there was no problem, and nothing was changed. */
  kept?: string;
  /** The number of threads in the new file, and the ids of those that are lost. */
  saved: number;
  lost: string[];
}

/**
 * Replaces a thread store by a new file with everything that is intact, and keeps the old one next to it. A thread goes
 * back to its newest intact checkpoint. Throws when the file cannot be read at all, or is in use.
 *
 * @example
 * ```ts
 * import { checkStore, repairStore } from "holdfast/storage";
 *
 * const problems = await checkStore("threads.db");
 * if (problems.length > 0) console.log(await repairStore("threads.db"));
 * ```
 */
export async function repairStore(
  path: string,
  { onProgress }: { onProgress?: (progress: Progress) => void } = {},
): Promise<Repair> {
  const file = resolve(path);
  const draft = `${file}.${randomUUID()}.new`;
  const old = await openReadable(file);
  try {
    refuseWhileUsed(old.connection);
    const fresh = await openDatabase(draft);
    try {
      const { problems, ...rest } = await copy(old.connection, fresh, onProgress);
      const result = { problems: [...old.problems, ...problems], ...rest };
      fresh.all("PRAGMA store.wal_checkpoint(TRUNCATE)");
      fresh.close();
      old.connection.close();
      return result.problems.length === 0 ? result : { ...result, kept: replaceFile(file, draft) };
    } finally {
      fresh.close();
    }
  } finally {
    old.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
}

async function copy(
  old: Connection,
  fresh: Connection,
  onProgress: ((progress: Progress) => void) | undefined,
): Promise<{ problems: Problem[]; saved: number; lost: string[] }> {
  const threads: { row: ThreadRow; isIntact: boolean }[] = [];
  const heads = new Map<string, HeadRow>();
  const interrupted = new Map<number, boolean>();
  const survey = new FileSurvey(
    old,
    {
      thread: (row, isIntact) => threads.push({ row, isIntact }),
      blob: (row) => BLOBS.put(fresh, row),
      checkpoint: (row, writes) => {
        const { thread, ns, seq, id } = row;
        CHECKPOINTS.put(fresh, { ...row, writes: writes.length });
        for (const write of writes) WRITES.put(fresh, write);
        const count = (heads.get(`${thread} ${ns}`)?.count ?? 0) + 1;
        heads.set(`${thread} ${ns}`, { thread, ns, seq, id, count, pending: writes.length });
        if (ns === "")
          interrupted.set(
            thread,
            writes.some(({ channel }) => channel === INTERRUPT),
          );
      },
      ledger: (copyTo) => copyTo(fresh),
      edit: (row) => RECORDS.edits.put(fresh, row),
      item: (row) => ITEMS.put(fresh, row),
    },
    onProgress,
  );
  const lost: string[] = [];
  const changed: string[] = [];
  fresh.transaction(() => {
    survey.run();
    for (const { row, isIntact } of threads) {
      const newest = heads.get(`${row.key} `);
      if (!newest) {
        lost.push(row.id);
        continue;
      }
      const isSame = isIntact && row.checkpoint === newest.id;
      if (!isSame) changed.push(row.id);
      const { id: checkpoint, seq } = newest;
      const columns = { checkpoint, seq, interrupted: interrupted.get(row.key) ? 1 : 0 };
      THREADS.put(fresh, { ...row, ...(!isSame && EMPTY_SUMMARY), ...columns });
    }
    for (const head of heads.values()) HEADS.put(fresh, head);
    for (const table of ["writes", "checkpoints", "blobs", "edits", "heads"]) {
      fresh.run(`DELETE FROM ${table} WHERE thread NOT IN (SELECT key FROM threads)`);
    }
    new LatestCheckpoints(fresh).setThreadCount(threads.length - lost.length);
  });
  const saver = new SqliteSaver(fresh);
  for (const id of changed) await saver.noteNewest(id);
  return { problems: survey.problems, saved: threads.length - lost.length, lost };
}

/** The summary of a thread whose newest checkpoint is another one now, until that is read. */
const EMPTY_SUMMARY = { title: null, done: 0, total: 0, unfinished: 0 };

function refuseWhileUsed(connection: Connection): void {
  const leases = attempt(() => LEASES.intact(connection, ""));
  const holder = leases?.find(isAlive);
  if (!holder) return;
  throw new HarnessError(
    "thread-busy",
    `${connection.path} is in use by process ${holder.pid} on ${holder.host}. Wait for it or stop it, then repair.`,
  );
}

/** Replaces the file by the draft, and returns the path of the old file. */
function replaceFile(file: string, draft: string): string {
  const oldPath = `${file}.damaged-${new Date().toISOString().replaceAll(/[:.]/g, "-")}`;
  if (existsSync(oldPath)) throw corrupt(file, `${oldPath} exists already`);
  renameSync(file, oldPath);
  for (const suffix of ["-wal", "-shm"])
    if (existsSync(file + suffix)) renameSync(file + suffix, oldPath + suffix);
  renameSync(draft, file);
  return oldPath;
}
