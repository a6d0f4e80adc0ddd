import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, linkSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { HarnessError } from "../../errors.ts";
import { Connection, corrupt } from "../sqlite/database/index.ts";
import { openDatabase } from "../sqlite/file/index.ts";
import { checkStore } from "./check.ts";

/**
 * Copies a snapshot of a thread store, while other processes may write to it. The copy is checked completely, and gets
 * its name only if it is intact. Throws when the name is taken.
 *
 * @example
 * ```ts
 * import { backupStore, defaultStatePath } from "holdfast/storage";
 *
 * await backupStore(defaultStatePath(), "threads-backup.db");
 * ```
 */
export async function backupStore(path: string, target: string): Promise<void> {
  const copy = resolve(target);
  if (existsSync(copy)) {
    throw new HarnessError("invalid-options", `${copy} exists already; a backup overwrites nothing.`);
  }
  const draft = `${copy}.${randomUUID()}.new`;
  try {
    const connection = await openDatabase(path);
    try {
      connection.run("VACUUM store INTO ?", [draft]);
    } finally {
      connection.close();
    }
    await deleteLeases(draft);
    const [problem] = await checkStore(draft);
    if (problem) throw corrupt(resolve(path), problem.what);
    chmodSync(draft, 0o600);
    linkSync(draft, copy);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
}

/** Deletes the leases and letters of a copy, which no process works on. */
async function deleteLeases(file: string): Promise<void> {
  const connection = await Connection.open(file);
  try {
    connection.exec("DELETE FROM leases; DELETE FROM edits;");
  } finally {
    connection.close();
  }
}
