import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";

/** True for a file on the host that was not changed since a moment, or is as committed. Never throws. */
export async function isUnchanged(
  file: string,
  { bytes, since }: { bytes: Uint8Array; since: number | undefined },
): Promise<boolean> {
  try {
    // `bytes` may be the unsaved text of an editor.
    if (!(await readFile(file)).equals(bytes)) return false;
    const { mtimeMs, ctimeMs } = await stat(file);
    return (since !== undefined && Math.max(mtimeMs, ctimeMs) < since) || (await isCommitted(file, bytes));
  } catch {
    return false;
  }
}

const run = promisify(execFile);

async function isCommitted(file: string, bytes: Uint8Array): Promise<boolean> {
  // A repository may name a program that watches its files: git must not start it.
  const args = ["-c", "core.fsmonitor=false", "rev-parse", `HEAD:./${basename(file)}`];
  const { stdout } = await run("git", args, { cwd: dirname(file), timeout: 5000 });
  const id = stdout.trim();
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}
