import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { FileBackend, FileResult } from "./backend/index.ts";
import { createBackend } from "./backends/create.ts";
import { stateFiles } from "./backends/state.ts";
import { diskBackend } from "./disk/index.ts";
import { compileGlob } from "./paths/glob.ts";
import { foldersAbove } from "./paths/paths.ts";
import { grepFiles } from "./search/grep.ts";
import { compilePattern } from "./search/pattern.ts";
import { SearchPass } from "./search/search-pass.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-floods-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** How often other work got its turn while something ran. */
async function ticksDuring(work: () => Promise<unknown>): Promise<number> {
  let ticks = 0;
  let isOver = false;
  const tick = (): void => {
    ticks += 1;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  isOver = true;
  return ticks;
}

function errorOf(result: FileResult): string {
  return result.ok ? "" : result.error;
}

describe("a search through many files", () => {
  const paths = Array.from({ length: 10_000 }, (_, n) => `/${n}.txt`);
  const compiled = compilePattern({ pattern: "needle" });
  const matcher = compiled.ok ? compiled.matcher : undefined;
  const grep = (now: () => number, content: string) =>
    grepFiles(
      { paths, matcher: matcher!, read: async () => ({ ok: true, content }), pass: new SearchPass({ now }) },
      { pattern: "needle" },
    );

  it("lets other work run, also where nothing matches", async () => {
    let time = 0;
    // Every look at the clock is a millisecond later.
    const ticks = await ticksDuring(() => grep(() => (time += 1), "hay"));
    expect(ticks).toBeGreaterThan(100);
  });

  it("is over when its time is up, wherever it is", async () => {
    for (const content of ["hay", "hay\n".repeat(50_000) + "needle"]) {
      let time = 0;
      const { notes } = await grep(() => (time += 100), content);
      expect(notes).toEqual([expect.stringContaining("Stopped after 20 seconds.")]);
    }
  });

  it("says which folders could not be read", async () => {
    const backend = createBackend({
      ...({} as Parameters<typeof createBackend>[0]),
      read: async () => ({ ok: false, error: "", reason: "missing" }),
      list: async (path) =>
        path === "/"
          ? { ok: true, entries: [{ name: "shut", path: "/shut", isDirectory: true }] }
          : { ok: false, error: "no descriptor is left" },
    });
    const notes = ['Could not be read: "/shut".'];
    expect(await backend.glob("**")).toEqual({ ok: true, paths: [], notes });
    expect(await backend.grep({ pattern: "x" })).toEqual({ ok: true, files: [], notes });
  });

  it("on disk lets other work run, and reads file sizes only on request", async () => {
    for (let n = 0; n < 20_000; n += 1) writeFileSync(join(root, `${n}.txt`), "");
    const backend = diskBackend(root, { ripgrep: false });
    let listed: Awaited<ReturnType<FileBackend["list"]>> | undefined;
    expect(await ticksDuring(async () => (listed = await backend.list("/")))).toBeGreaterThan(20);
    const entries = listed?.ok ? listed.entries : [];
    expect(entries).toHaveLength(20_000);
    expect(entries[0]).toEqual({ name: "0.txt", path: "/0.txt", isDirectory: false });
    const sized = await backend.list("/", { sizes: true });
    expect(sized.ok && sized.entries[0]).toMatchObject({ name: "0.txt", size: 0 });
    expect(await ticksDuring(() => backend.glob("**"))).toBeGreaterThan(20);
  });
});

describe("a path", () => {
  const long = "/a".repeat(20_000);

  it("is refused by every operation when it has twenty thousand folders", async () => {
    for (const backend of [stateFiles({}), diskBackend(root)]) {
      const results = await Promise.all<FileResult>([
        backend.list(long),
        backend.read(long),
        backend.write(long, ""),
        backend.delete(long),
        backend.edit(long, { oldString: "a", newString: "b" }),
        backend.glob("*", { path: long }),
        backend.grep({ pattern: "a", path: long }),
      ]);
      for (const result of results) {
        expect(errorOf(result)).toMatch(/^The path "\/a.{1,80}…" has 40000 characters; the most is 4096\.$/);
      }
    }
  });

  it("has all its folders, however many", () => {
    expect(foldersAbove("/a/b/c")).toEqual(["/a/b", "/a", "/"]);
    expect(foldersAbove("/")).toEqual([]);
    expect(foldersAbove(long)).toHaveLength(20_000);
  });
});

describe("a pattern", () => {
  const deep = `/${"a/".repeat(2000)}a`;

  it.each([
    ["**/", 300],
    ["**/a/", 190],
    ["*a", 400],
    ["?*", 400],
    ["[a-z]*", 150],
  ])("made to take for ever is answered: %s, %i times", (part, times) => {
    const compiled = compileGlob(`${part.repeat(times)}b`, "/");
    const paths = [deep, `/${"a".repeat(255)}`];
    expect(compiled.ok && paths.map((path) => compiled.glob.matches(path))).toEqual([false, false]);
  });

  it.each([
    ["{a,b}", 199],
    ["{a,b}", 10_000],
  ])("is refused when it expands to too many patterns: %s, %i times", (part, times) => {
    const error = errorOf(compileGlob(part.repeat(times), "/"));
    expect(error).toMatch(/the most is 1000|more than 200 patterns/);
  });

  it("has a maximum length in a search", () => {
    for (const pattern of ["\\pL".repeat(10_000), "(".repeat(100_000), "a".repeat(1_000_000)]) {
      expect(errorOf(compilePattern({ pattern, regex: true }))).toMatch(/characters; the most is 2000/);
    }
  });
});

describe("a text", () => {
  it("is not written when it would be too large to read again", async () => {
    for (const backend of [stateFiles({}), diskBackend(root)]) {
      const refused = await backend.write("/a", "x".repeat(100_000_000));
      expect(errorOf(refused)).toMatch(/^"\/a" was not written: it has more than 10000000 bytes/);
      // Characters are not bytes.
      expect((await backend.write("/a", "€".repeat(4_000_000))).ok).toBe(false);
      expect((await backend.list("/")) as object).toEqual({ ok: true, entries: [] });
    }
  });

  it("does not grow beyond it by an edit", async () => {
    for (const backend of [stateFiles({}), diskBackend(root)]) {
      await backend.write("/a", "a".repeat(1_000_000));
      const edit = { oldString: "a", newString: "b".repeat(100_000), replaceAll: true };
      expect(errorOf(await backend.edit("/a", edit))).toContain(
        "It would have 100000000000 characters; the most for one file is 10000000.",
      );
    }
  });

  it("is refused unread when it has two gigabytes", async () => {
    writeFileSync(join(root, "sparse"), "");
    truncateSync(join(root, "sparse"), 2 ** 31);
    expect(errorOf(await diskBackend(root).read("/sparse"))).toBe(
      '"/sparse" has 2147483648 bytes; files of up to 10000000 can be read.',
    );
  });
});
