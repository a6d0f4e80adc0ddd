import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Gives all tests one folder for temporary files, and takes it away after the last: a test that is killed cleans up nothing. */
export function setup(): (() => void) | undefined {
  const before = process.env["TMPDIR"];
  // It is called for each project.
  if (before?.includes("hft-")) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "hft-"));
  // The database is another user's where these tests are root's.
  chmodSync(folder, 0o1777);
  process.env["TMPDIR"] = folder;
  return () => {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
