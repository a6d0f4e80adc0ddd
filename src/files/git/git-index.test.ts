import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { branchOf, foldersIn, isStaged, readIndex, repositoryOf, submodulesIn } from "./index.ts";

const folders: string[] = [];
afterEach(() => folders.splice(0).forEach((path) => rmSync(path, { recursive: true })));

function repository(...options: string[]) {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-index-"));
  folders.push(dir);
  const git = (...words: string[]): string =>
    execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", ...words], {
      cwd: dir,
      encoding: "utf8",
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main", ...options);
  return { dir, git };
}

const utf8 = (path: string): string => Buffer.from(path, "latin1").toString();

/** A repository with files whose paths share prefixes and have every length. */
function withFiles(...options: string[]) {
  const { dir, git } = repository(...options);
  for (let length = 1; length <= 20; length += 1) {
    mkdirSync(join(dir, "a".repeat(length)));
    for (const name of ["b", "é", "with space"])
      writeFileSync(join(dir, "a".repeat(length), name), `${length}`);
  }
  git("add", ".");
  return { dir, git };
}

it.each([
  ["2", []],
  ["4", []],
  ["2", ["--object-format=sha256"]],
  ["4", ["--object-format=sha256"]],
])("lists the same paths and ids as git, in version %s with %j", (version, options) => {
  const { dir, git } = withFiles(...options);
  git("update-index", `--index-version=${version}`);
  const listed = git("ls-files", "--stage", "-z").split("\0").filter(Boolean);
  const { entries, isOpaque, isSplit } = readIndex(join(dir, ".git"));
  expect(
    entries.map(({ path, mode, id }) => `${mode.toString(8).padStart(6, "0")} ${id} 0\t${utf8(path)}`),
  ).toEqual(listed);
  expect([isOpaque, isSplit]).toEqual([false, false]);
});

it("reads entries with extended flags", () => {
  const { dir, git } = withFiles();
  git("update-index", "--skip-worktree", "a/b");
  expect(readIndex(join(dir, ".git")).entries.map(({ path }) => utf8(path))).toEqual(
    git("ls-files", "-z").split("\0").filter(Boolean),
  );
});

it("finds submodules, also in a split index", () => {
  const { dir, git } = withFiles();
  git("update-index", "--add", "--cacheinfo", `160000,${"1".repeat(40)},lib/x`);
  expect(submodulesIn(readIndex(join(dir, ".git")))).toEqual(["lib/x"]);
  git("update-index", "--split-index");
  const index = readIndex(join(dir, ".git"));
  expect(index.isSplit).toBe(true);
  expect(submodulesIn(index)).toContain("lib/x");
});

it("lists the folders of a sparse index that stand for their files", () => {
  const { dir, git } = withFiles();
  git("commit", "-qm", "one");
  git("sparse-checkout", "set", "--cone", "--sparse-index", "a");
  const index = readIndex(join(dir, ".git"));
  expect(index.isOpaque).toBe(false);
  expect(foldersIn(index)).toEqual(Array.from({ length: 19 }, (_, at) => "a".repeat(at + 2)));
});

it.each(["2", "4"])("accepts git's own table of blocks in version %s", (version) => {
  const { dir, git } = withFiles();
  git("update-index", `--index-version=${version}`);
  git("-c", "index.threads=4", "-c", "index.recordOffsetTable=true", "update-index", "--force-write-index");
  expect(readIndex(join(dir, ".git"))).toMatchObject({ isOpaque: false });
});

/** An index of files of one size, as bytes, with these extensions. */
function indexWith(extensions: (end: number) => Buffer[], count = 4): Buffer {
  const entry = (name: string): Buffer => {
    const bytes = Buffer.alloc(72);
    bytes.writeUInt32BE(0o100644, 24);
    bytes.writeUInt16BE(name.length, 60);
    bytes.write(name, 62);
    return bytes;
  };
  const header = Buffer.from("DIRC\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(count, 8);
  const entries = Array.from({ length: count }, (_, at) => entry(`a${at}`));
  const all = [header, ...entries];
  const end = Buffer.concat(all).length;
  return Buffer.concat([...all, ...extensions(end), Buffer.alloc(20)]);
}

function extension(name: string, numbers: readonly number[], more = 0): Buffer {
  const data = Buffer.alloc(numbers.length * 4 + more);
  for (const [at, number] of numbers.entries()) data.writeUInt32BE(number, at * 4);
  const head = Buffer.from(`${name}\0\0\0\0`, "latin1");
  head.writeUInt32BE(data.length, 4);
  return Buffer.concat([head, data]);
}

it.each<[what: string, extensions: (end: number) => Buffer[], isOpaque: boolean]>([
  ["blocks of all entries", () => [extension("IEOT", [1, 12, 2, 156, 2])], false],
  ["the end of the entries", (end) => [extension("EOIE", [end], 20)], false],
  ["a block elsewhere", () => [extension("IEOT", [1, 12, 2, 400, 2])], true],
  ["a block within an entry", () => [extension("IEOT", [1, 12, 2, 160, 2])], true],
  ["too few entries in its blocks", () => [extension("IEOT", [1, 12, 2])], true],
  ["another end of the entries", (end) => [extension("EOIE", [end + 8], 20)], true],
  [
    "another end that another extension covers",
    (end) => [extension("ZZZZ", [0, 0x454f4945, 24, end + 8], 20)],
    true,
  ],
])("reads an index that names %s, opaque: %s", (_what, extensions, isOpaque) => {
  const { dir } = repository();
  writeFileSync(join(dir, ".git/index"), indexWith(extensions));
  const index = readIndex(join(dir, ".git"));
  expect(index.isOpaque).toBe(isOpaque);
  expect(index.entries).toHaveLength(4);
});

it("readIndex does not hang on many line breaks in settings or on a pipe", () => {
  const { dir } = withFiles();
  writeFileSync(join(dir, ".git/config"), `${"\r\n".repeat(200_000)}[core]\n`);
  expect(readIndex(join(dir, ".git")).entries).toHaveLength(60);
  rmSync(join(dir, ".git/index"));
  execFileSync("mkfifo", [join(dir, ".git/index")]);
  expect(readIndex(join(dir, ".git"))).toEqual({ entries: [], isOpaque: false, isSplit: false });
});

it("returns no entries without an index, and those before the damage if damaged", () => {
  const { dir, git } = repository();
  expect(readIndex(join(dir, ".git")).entries).toEqual([]);
  writeFileSync(join(dir, "a"), "1");
  git("add", "a");
  const folder = join(dir, ".git");
  const bytes = execFileSync("cat", [join(folder, "index")]);
  bytes.writeUInt32BE(1000, 8);
  writeFileSync(join(folder, "index"), bytes.subarray(0, 75));
  expect(readIndex(folder).entries.length).toBeLessThanOrEqual(1);
  expect(readIndex(folder).isOpaque).toBe(true);
  writeFileSync(join(folder, "index"), "no index");
  expect(readIndex(folder)).toEqual({ entries: [], isOpaque: false, isSplit: false });
});

it("notices an entry whose length differs from its path", () => {
  const { dir, git } = repository();
  writeFileSync(join(dir, "a"), "1");
  git("add", "a");
  const path = join(dir, ".git/index");
  const bytes = readFileSync(path);
  bytes.writeUInt16BE(9, 72);
  writeFileSync(path, bytes);
  expect(readIndex(join(dir, ".git")).isOpaque).toBe(true);
});

it("isStaged recognizes the staged text of a file, in a subfolder and in a worktree", () => {
  const { dir, git } = withFiles();
  expect(isStaged(dir, join(dir, "aa/b"), Buffer.from("2"))).toBe(true);
  expect(isStaged(dir, join(dir, "aa/b"), Buffer.from("3"))).toBe(false);
  expect(isStaged(join(dir, "aa"), join(dir, "aa/b"), Buffer.from("2"))).toBe(true);
  git("commit", "-qm", "one");
  git("worktree", "add", "-q", join(dir, "tree"), "-b", "other");
  const tree = join(dir, "tree");
  expect(isStaged(tree, join(tree, "aa/b"), Buffer.from("2"))).toBe(true);
  expect(branchOf(repositoryOf(tree)!)).toBe("other");
});

it("uses no repository below the root", () => {
  const { dir, git } = repository();
  mkdirSync(join(dir, "sub"));
  git("init", "-q", "sub");
  writeFileSync(join(dir, "sub/a"), "1");
  git("-C", "sub", "add", "a");
  expect(isStaged(dir, join(dir, "sub/a"), Buffer.from("1"))).toBe(false);
  expect(isStaged(join(dir, "sub"), join(dir, "sub/a"), Buffer.from("1"))).toBe(true);
});
