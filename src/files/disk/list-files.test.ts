import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { listFiles } from "./list-files.ts";

const root = mkdtempSync(join(tmpdir(), "holdfast-list-"));
afterAll(() => rmSync(root, { recursive: true }));

function write(path: string, text = ""): void {
  mkdirSync(join(root, dirname(path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

it("lists the files that git lists, tracked or not, without running git", () => {
  execFileSync("git", ["init", "-q"], { cwd: root });
  write(".gitignore", "*.log\n/dist/\n");
  write("sub/.gitignore", "secret\n/only-here\n");
  const paths = [
    ".env",
    "a.ts",
    "a.log",
    "dist/x.js",
    "sub/dist/y.js",
    "sub/secret/z",
    "sub/only-here",
    "only-here",
  ];
  for (const path of paths) write(path);
  const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], {
    cwd: root,
    encoding: "utf8",
  });
  write("node_modules/m/index.js");
  expect(listFiles(root, 100).toSorted()).toEqual(listed.split("\0").filter(Boolean).toSorted());
  expect(listFiles(root, 2)).toHaveLength(2);
  expect(listFiles(join(root, "nowhere"), 100)).toEqual([]);
});
