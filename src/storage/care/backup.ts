import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, linkSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { HarnessError } from "../../errors.ts";
import { Connection, corrupt } from "../sqlite/database/index.ts";
import { openDatabase } from "../sqlite/file/index.ts";
import { checkStore } from "./check.ts";

/**
 * Copies a thread store as it is at one moment, while others may write to it. The copy is checked from end to end, and
 * is under its name only when it is whole. Throws when there is something at that name.
 */
export async function backupStore(path: string, target: string): Promise<void> {
  const copy = resolve(target);
  if (existsSync(copy)) {
    throw new HarnessError("invalid-options", `${copy} is there already; a backup overwrites nothing.`);
  }
  const draft = `${copy}.${randomUUID()}.new`;
  try {
    const connection = await openDatabase(path);
    try {
      connection.run("VACUUM store INTO ?", [draft]);
    } finally {
      connection.close();
    }
    await withoutLeases(draft);
    const [problem] = await checkStore(draft);
    if (problem) throw corrupt(resolve(path), problem.what);
    chmodSync(draft, 0o600);
    linkSync(draft, copy);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
}

/** Nobody works on a copy. */
async function withoutLeases(file: string): Promise<void> {
  const connection = await Connection.open(file);
  try {
    connection.exec("DELETE FROM leases; DELETE FROM edits;");
  } finally {
    connection.close();
  }
}
