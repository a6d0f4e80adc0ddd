import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import type { FileBackend } from "../backend/index.ts";
import { createBackend } from "../backends/create.ts";
import { Disk, type DiskOptions } from "./disk.ts";
import { diskBackend } from "./index.ts";

const SECRET = "the-canary-sings";

let base: string;
let root: string;
let outside: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-disk-")));
  [root, outside] = [join(base, "root"), join(base, "outside")];
  mkdirSync(join(root, "dir"), { recursive: true });
  mkdirSync(join(outside, "deep"), { recursive: true });
  writeFileSync(join(outside, "canary.txt"), SECRET);
  writeFileSync(join(outside, "deep", "canary.txt"), SECRET);
  writeFileSync(join(root, "dir", "a.txt"), "inside");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function backendWith(options: DiskOptions = {}, descriptors?: boolean): FileBackend {
  return createBackend(new Disk(root, options, descriptors));
}

/** Everything beside the root: names, types and contents. */
function surroundings(): string[] {
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .filter(({ path }) => path !== root && !path.startsWith(`${root}/`))
    .map(({ entry, path }) => `${path} ${entry.isFile() ? readFileSync(path, "utf8") : "folder"}`)
    .toSorted();
}

function plantLinks(): void {
  symlinkSync(outside, join(root, "link-dir"));
  symlinkSync("../../outside", join(root, "dir", "link-rel"));
  symlinkSync(join(outside, "canary.txt"), join(root, "link-file"));
  symlinkSync("..", join(root, "link-up"));
  symlinkSync("link-loop", join(root, "link-loop"));
  symlinkSync(join(outside, "not-yet.txt"), join(root, "link-dangling"));
  symlinkSync("dir", join(root, "link-inside"));
}

/** Tries everything that a backend can do with a path, and hands over all that came back. */
async function attempt(backend: FileBackend, path: string): Promise<string> {
  const results = [
    await backend.read(path),
    await backend.list(path),
    await backend.glob("**", { path }),
    await backend.glob(`${path}/*`),
    await backend.grep({ pattern: SECRET, path }),
    await backend.edit(path, { oldString: SECRET, newString: "changed" }),
    await backend.write(path, "written"),
    await backend.write(`${path}/new/file.txt`, "written"),
    await backend.delete(path),
    await backend.delete(`${path}/canary.txt`),
  ];
  return JSON.stringify(results);
}

const segment = fc.constantFrom(
  "..",
  ".",
  "",
  "...",
  "....",
  ".. ",
  " ..",
  "..;",
  "%2e%2e",
  "%2e.",
  "..%2f",
  "..%5c",
  "%252e%252e",
  "．．",
  "‥",
  "link-dir",
  "link-rel",
  "link-file",
  "link-up",
  "link-loop",
  "link-dangling",
  "link-inside",
  "dir",
  "root",
  "outside",
  "deep",
  "canary.txt",
  "not-yet.txt",
  "a.txt",
  "\0",
  "\u202E",
  "~",
  "C:",
  "?",
  "UNC",
  "etc",
  "proc",
  "self",
);
const separator = fc.constantFrom("/", "//", "/./", "\\", "\\\\", "/../", "∕", "%2f", "\u0000/");
const prefix = fc.constantFrom(
  "",
  "/",
  "//",
  "../",
  "\\\\?\\",
  "\\\\host\\",
  "C:/",
  "file://",
  "/proc/self/cwd/",
  "~/",
);
const anyPath = fc
  .tuple(prefix, fc.array(fc.tuple(segment, separator), { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([start, parts, absolute]) => (absolute ? outside : "") + start + parts.flat().join(""));
/** Paths that get as far as the disk, where the links are. */
const plainPath = fc
  .array(
    fc.constantFrom(
      "link-dir",
      "link-rel",
      "link-file",
      "link-up",
      "link-dangling",
      "link-inside",
      "dir",
      "root",
      "outside",
      "canary.txt",
      "not-yet.txt",
      "a.txt",
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((segments) => `/${segments.join("/")}`);
const traversal = fc.oneof(anyPath, plainPath);

describe.each([
  ["with descriptors", undefined],
  ["without descriptors", false],
])("a disk backend %s", { timeout: 120_000 }, (_, descriptors) => {
  it("neither reads nor writes outside its root, for any path", async () => {
    plantLinks();
    const before = surroundings();
    const backend = backendWith({}, descriptors);
    await fc.assert(
      fc.asyncProperty(traversal, async (path) => {
        const answer = await attempt(backend, path);
        expect(answer.replaceAll(path, "")).not.toContain(SECRET);
        expect(surroundings()).toEqual(before);
      }),
      { numRuns: rounds(220) },
    );
    expect(existsSync(join(outside, "not-yet.txt"))).toBe(false);
    expect(readdirSync(root)).toEqual(
      expect.arrayContaining(["link-dir", "link-file", "link-up", "link-dangling"]),
    );
  });

  it.each(["/link-dir/canary.txt", "/link-file", "/dir/link-rel/canary.txt", "/link-up/outside/canary.txt"])(
    "does not follow the link in %s",
    async (path) => {
      plantLinks();
      const backend = backendWith({}, descriptors);
      const before = surroundings();
      for (const result of [
        await backend.read(path),
        await backend.write(path, "x"),
        await backend.delete(path),
        await backend.edit(path, { oldString: SECRET, newString: "x" }),
      ]) {
        const error = expect.stringContaining("link") as string;
        expect(result).toEqual({ ok: false, reason: "denied", error });
      }
      expect(surroundings()).toEqual(before);
    },
  );

  it("does not show links, and does not search their targets", async () => {
    plantLinks();
    const backend = backendWith({}, descriptors);
    const { entries } = (await backend.list("/")) as { entries: { name: string }[] };
    expect(entries.map(({ name }) => name)).toEqual(["dir"]);
    expect(await backend.glob("**")).toEqual({ ok: true, paths: ["/dir/a.txt"] });
    expect(await backend.grep({ pattern: SECRET })).toEqual({ ok: true, files: [], notes: [] });
  });

  it("says nothing of the host in its errors", async () => {
    plantLinks();
    const backend = backendWith({}, descriptors);
    for (const path of [
      "/none",
      "/link-dir/x",
      "/dir",
      `/${"x".repeat(300)}`,
      "/dir/a.txt/b",
      "/link-loop",
    ]) {
      expect(await attempt(backend, path)).not.toContain(base);
    }
  });

  it("keeps the mode of a file, and leaves no other files", async () => {
    const backend = backendWith({}, descriptors);
    chmodSync(join(root, "dir", "a.txt"), 0o754);
    await backend.write("/dir/a.txt", "new");
    await backend.edit("/dir/a.txt", { oldString: "new", newString: "newer" });
    expect(statSync(join(root, "dir", "a.txt")).mode & 0o777).toBe(0o754);
    expect(readdirSync(join(root, "dir"))).toEqual(["a.txt"]);
  });

  it("shows readers one content or the other, never a part", async () => {
    const backend = backendWith({}, descriptors);
    const contents = ["a".repeat(300_000), "b".repeat(300_000)];
    await backend.write("/big.txt", contents[0]!);
    const writes = (async () => {
      for (let n = 1; n < 20; n += 1) await backend.write("/big.txt", contents[n % 2]!);
    })();
    for (let n = 0; n < 40; n += 1) {
      const read = await backend.read("/big.txt");
      expect(read.ok && contents.includes(read.content)).toBe(true);
    }
    await writes;
  });
});

describe.each([
  ["with descriptors", undefined],
  ["without descriptors", false],
])("a disk backend %s in a race", { timeout: 120_000 }, (_, descriptors) => {
  /** Puts a link to the outside in the place of something, and takes it away again, over and over. */
  async function flipping(path: string, target: string, work: () => Promise<void>): Promise<void> {
    const done = new AbortController();
    const flips = (async () => {
      while (!done.signal.aborted) {
        await rename(path, `${path}-parked`);
        // A backend that writes may make a folder here meanwhile.
        await symlink(target, path).catch(() => {});
        do await rm(path, { recursive: true, force: true }).catch(() => {});
        while (
          !(await rename(`${path}-parked`, path).then(
            () => true,
            () => false,
          ))
        );
      }
    })();
    await work().finally(() => done.abort());
    await flips;
  }

  it("is not led outside by a folder that turns into a link", async () => {
    writeFileSync(join(root, "dir", "canary.txt"), "inside");
    const before = surroundings();
    const backend = backendWith({}, descriptors);
    const seen = new Set<string>();
    await flipping(join(root, "dir"), outside, async () => {
      for (let n = 0; n < 40; n += 1) {
        const read = await backend.read("/dir/canary.txt");
        seen.add(read.ok ? read.content : "refused");
        await backend.write("/dir/canary.txt", "inside");
        await backend.write(`/dir/new/${n}.txt`, "inside");
        await backend.edit("/dir/canary.txt", { oldString: SECRET, newString: "x" });
        await backend.delete("/dir/deep/canary.txt");
        seen.add(JSON.stringify(await backend.grep({ pattern: SECRET })));
      }
    });
    expect([...seen].join("\n")).not.toContain(SECRET);
    expect(surroundings()).toEqual(before);
  });

  it("is not led outside by a file that turns into a link", async () => {
    const before = surroundings();
    const backend = backendWith({}, descriptors);
    const seen = new Set<string>();
    await flipping(join(root, "dir", "a.txt"), join(outside, "canary.txt"), async () => {
      for (let n = 0; n < 40; n += 1) {
        const read = await backend.read("/dir/a.txt");
        seen.add(read.ok ? read.content : "refused");
        await backend.edit("/dir/a.txt", { oldString: "inside", newString: "inside too", replaceAll: true });
        await backend.edit("/dir/a.txt", { oldString: "inside too", newString: "inside", replaceAll: true });
      }
    });
    expect([...seen].filter((content) => content.includes(SECRET))).toEqual([]);
    expect(surroundings()).toEqual(before);
  });
});

describe("a disk backend", () => {
  it("gives the same errors with and without descriptors", async () => {
    plantLinks();
    for (const path of [
      "/none",
      "/link-dir/x",
      "/link-file",
      "/link-loop",
      "/link-dangling",
      "/dir/a.txt/b",
      `/${"x".repeat(300)}`,
    ]) {
      expect(await attempt(backendWith({}, false), path)).toBe(await attempt(backendWith(), path));
    }
  });

  it("makes its root when it is missing", async () => {
    const backend = diskBackend(join(root, "new", "root"));
    expect(await backend.list("/")).toEqual({ ok: true, entries: [] });
  });

  it("refuses to read a file that is not text", async () => {
    writeFileSync(join(root, "image.png"), new Uint8Array([137, 80, 78, 71, 0, 1]));
    writeFileSync(join(root, "latin1.txt"), new Uint8Array([0xe9, 0x74]));
    const backend = backendWith();
    for (const path of ["/image.png", "/latin1.txt"]) {
      expect(await backend.read(path)).toMatchObject({ ok: false, reason: "not-text" });
      expect(await backend.edit(path, { oldString: "P", newString: "Q" })).toMatchObject({
        reason: "not-text",
      });
    }
    expect(await backend.grep({ pattern: "t" })).toEqual({ ok: true, files: [], notes: [] });
    expect(await backend.write("/image.png", "text")).toEqual({ ok: true, created: false });
  });

  it("refuses to read a file that is too large, and names it in a search", async () => {
    const backend = backendWith({ maxBytes: 10, ripgrep: false });
    writeFileSync(join(root, "large.log"), "needle ".repeat(10));
    expect(await backend.read("/large.log")).toMatchObject({ ok: false, reason: "too-large" });
    expect(await backend.grep({ pattern: "needle" })).toEqual({
      ok: true,
      files: [],
      notes: [`Not searched, too large: "/large.log".`],
    });
  });

  it.runIf(process.platform !== "win32")("does not wait for a pipe without a writer", async () => {
    execFileSync("mkfifo", [join(root, "pipe")]);
    for (const backend of [backendWith(), backendWith({}, false)]) {
      const error = `"/pipe" is not a regular file.`;
      expect(await backend.read("/pipe")).toMatchObject({ ok: false, error });
      expect(await backend.write("/pipe", "x")).toMatchObject({ ok: false });
    }
  });

  it("does not write over a change that it has not seen", async () => {
    const disk = new Disk(root, {});
    expect(await disk.swap("/dir/a.txt", "older", "new")).toMatchObject({ ok: true, swapped: false });
    expect(readFileSync(join(root, "dir", "a.txt"), "utf8")).toBe("inside");
  });

  it("applies edits that several backends on one folder make at once", async () => {
    const letters = "abcdefghij".split("");
    await backendWith().write("/list.txt", letters.join("\n"));
    await Promise.all(
      letters.map((letter) =>
        backendWith().edit("/list.txt", { oldString: letter, newString: letter.toUpperCase() }),
      ),
    );
    expect(await backendWith().read("/list.txt")).toEqual({
      ok: true,
      content: letters.join("\n").toUpperCase(),
    });
  });

  it("skips other spellings of the folders that it skips", async () => {
    for (const path of [".GIT/config", ".g\u200Cit/config", "Node_Modules/x.js", "node_modules./x.js"]) {
      await backendWith().write(path, "needle");
    }
    expect(await backendWith().glob("**")).toEqual({ ok: true, paths: ["/dir/a.txt"] });
    expect(await backendWith().grep({ pattern: "needle" })).toMatchObject({ files: [] });
    expect(await backendWith().glob("**", { path: "/.GIT" })).toEqual({ ok: true, paths: ["/.GIT/config"] });
  });

  it("skips .git and node_modules unless they are asked for by name", async () => {
    for (const path of [".git/config", "node_modules/x/index.js", "src/node_modules/y.js"]) {
      await backendWith().write(path, "needle");
    }
    const found = (backend: FileBackend, pattern: string, path?: string): Promise<unknown> =>
      backend.glob(pattern, { path });
    expect(await found(backendWith(), "**")).toEqual({ ok: true, paths: ["/dir/a.txt"] });
    expect(await found(backendWith(), "/node_modules/**")).toEqual({
      ok: true,
      paths: ["/node_modules/x/index.js"],
    });
    expect(await found(backendWith(), "**", "/.git")).toEqual({ ok: true, paths: ["/.git/config"] });
    expect(await found(backendWith({ ignore: ["dir"] }), "**/*.txt")).toEqual({ ok: true, paths: [] });
    for (const ripgrep of [true, false]) {
      expect(await backendWith({ ripgrep }).grep({ pattern: "needle" })).toMatchObject({ files: [] });
      const inside = await backendWith({ ripgrep }).grep({ pattern: "needle", path: "node_modules" });
      expect(inside).toMatchObject({ files: [{ path: "/node_modules/x/index.js" }] });
    }
  });
});
