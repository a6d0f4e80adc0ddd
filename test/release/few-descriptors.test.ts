import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

const FILES = join(process.cwd(), "dist/files/index.js");
const DEPTH = 150;

/** Runs code on a tree that is deeper than there are descriptors; `fill` uses up all of them. */
async function inDeepTree(code: string): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "holdfast-descriptors-"));
  const deepest = join(root, "d/".repeat(DEPTH));
  mkdirSync(deepest, { recursive: true });
  writeFileSync(join(deepest, "needle.txt"), "needle");
  const script = `
    import { openSync } from "node:fs";
    import { diskBackend } from ${JSON.stringify(FILES)};
    const backend = diskBackend(${JSON.stringify(root)}, { ripgrep: false });
    const fill = () => { try { for (;;) openSync("/dev/null"); } catch {} };
    await backend.read("/");
    ${code}`;
  try {
    const limited = ["-c", 'ulimit -n 64; exec "$0" "$@"'];
    const { stdout, stderr } = await run("sh", [
      ...limited,
      process.execPath,
      "--input-type=module",
      "--eval",
      script,
    ]);
    expect(stderr).toBe("");
    return stdout;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

it.skipIf(process.platform === "win32")("a deep search finds everything with few descriptors", async () => {
  const path = `/${"d/".repeat(DEPTH)}needle.txt`;
  const found = await inDeepTree(`
    const globs = await Promise.all(Array.from({ length: 20 }, () => backend.glob("**/*.txt")));
    const { files } = await backend.grep({ pattern: "needle" });
    console.log(JSON.stringify([...new Set(globs.flatMap(({ paths }) => paths)), files[0].path]));`);
  expect(JSON.parse(found)).toEqual([path, path]);
});

it.skipIf(process.platform === "win32")("a search says so where there are none at all", async () => {
  const found = await inDeepTree(`fill(); console.log(JSON.stringify(await backend.glob("**/*.txt")));`);
  expect(JSON.parse(found)).toEqual({ ok: true, paths: [], notes: ['Could not be read: "/".'] });
});
