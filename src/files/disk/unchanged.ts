import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";

/** Whether a file of the host still has what it had at a moment, or what the last commit has. Never throws. */
export async function isUnchanged(
  file: string,
  { bytes, since }: { bytes: Uint8Array; since: number | undefined },
): Promise<boolean> {
  try {
    // What is open in an editor may not be what is on disk.
    if (!(await readFile(file)).equals(bytes)) return false;
    const { mtimeMs, ctimeMs } = await stat(file);
    return (since !== undefined && Math.max(mtimeMs, ctimeMs) < since) || (await isCommitted(file, bytes));
  } catch {
    return false;
  }
}

const run = promisify(execFile);

async function isCommitted(file: string, bytes: Uint8Array): Promise<boolean> {
  const options = { cwd: dirname(file), timeout: 5000 };
  // A repository may name a program to watch its files with: not for us.
  const words = ["-c", "core.fsmonitor=false", "rev-parse", `HEAD:./${basename(file)}`];
  const { stdout } = await run("git", words, options);
  const id = stdout.trim();
  const hash = createHash(id.length === 64 ? "sha256" : "sha1");
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest("hex") === id;
}
