import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { afterAll, describe, expect, it } from "vitest";
import { stateFiles } from "../backends/state.ts";
import { compositeBackend, diskBackend, storeBackend, type FileBackend } from "../index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-ignore-")));
afterAll(() => rmSync(base, { recursive: true }));
let made = 0;

const FILES: Record<string, string> = {
  "/.gitignore": "*.log\n/dist/\n# a comment\n\nbuild\n!keep.log\nout/*\n!out/kept.txt  \n*.LOG2\n",
  "/.git/config": "x",
  "/a.log": "x",
  "/a.log2": "x",
  "/keep.log": "x",
  "/dist/a.js": "x",
  "/out/gone.txt": "x",
  "/out/kept.txt": "x",
  "/pkg/.gitignore": "\uFEFFlocal\r\n!build/\r\n/only-here\r\n\\#odd\r\n",
  "/pkg/#odd": "x",
  "/pkg/a.log": "x",
  "/pkg/build/made.js": "x",
  "/pkg/dist/a.js": "x",
  "/pkg/deep/local/x": "x",
  "/pkg/deep/only-here": "x",
  "/pkg/only-here": "x",
  "/pkg/[b]/.gitignore": "*\n!.gitignore\n!*.md\n",
  "/pkg/[b]/a.md": "x",
  "/pkg/[b]/a.ts": "x",
  "/src/build/made.js": "x",
  "/src/a.ts": "x",
};
const SEEN = [
  "/.gitignore",
  "/a.log2",
  "/keep.log",
  "/out/kept.txt",
  "/pkg/.gitignore",
  "/pkg/[b]/.gitignore",
  "/pkg/[b]/a.md",
  "/pkg/build/made.js",
  "/pkg/deep/only-here",
  "/pkg/dist/a.js",
  "/src/a.ts",
];

const BACKENDS: [string, () => FileBackend][] = [
  ["on disk", () => diskBackend(join(base, String((made += 1))))],
  [
    "on disk, searched without ripgrep",
    () => diskBackend(join(base, String((made += 1))), { ripgrep: false }),
  ],
  ["in graph state", () => stateFiles({})],
  ["in a store", () => storeBackend(new InMemoryStore(), ["files"])],
  ["in a composite", () => compositeBackend(stateFiles({}), { "/notes/": stateFiles({}) })],
];

describe.each(BACKENDS)("ignored files %s", (_name, create) => {
  async function filled(): Promise<FileBackend> {
    const backend = create();
    for (const [path, content] of Object.entries(FILES))
      expect((await backend.write(path, content)).ok).toBe(true);
    return backend;
  }
  const globbed = async (backend: FileBackend, pattern: string, scope = {}): Promise<string[] | false> => {
    const found = await backend.glob(pattern, scope);
    return found.ok && found.paths;
  };
  const grepped = async (backend: FileBackend, query = {}): Promise<string[] | false> => {
    const found = await backend.grep({ pattern: ".", regex: true, ...query, output: "files" });
    return found.ok && found.files.map(({ path }) => path);
  };

  it("are left out of globs and searches as in git, and are found on request", async () => {
    const backend = await filled();
    expect(await globbed(backend, "**")).toEqual(SEEN);
    expect(await grepped(backend)).toEqual(SEEN);
    const all = Object.keys(FILES).toSorted();
    expect(await globbed(backend, "**", { ignored: true })).toEqual(all);
    expect(await grepped(backend, { ignored: true })).toEqual(all);
  });

  it("are found where the search spells out their names", async () => {
    const backend = await filled();
    expect(await globbed(backend, "/dist/**")).toEqual(["/dist/a.js"]);
    expect(await globbed(backend, "**", { path: "/src/build" })).toEqual(["/src/build/made.js"]);
    expect(await globbed(backend, "**/a.log")).toEqual(["/a.log", "/pkg/a.log"]);
    expect(await grepped(backend, { path: "/dist" })).toEqual(["/dist/a.js"]);
    expect(await grepped(backend, { path: "/a.log" })).toEqual(["/a.log"]);
    expect(await grepped(backend, { glob: "local/**" })).toEqual([]);
    expect(await grepped(backend, { glob: "**/local/*" })).toEqual(["/pkg/deep/local/x"]);
  });

  it("are marked in lists, but not in the list of an ignored folder", async () => {
    const backend = await filled();
    const ignored = async (path: string): Promise<string[] | false> => {
      const listed = await backend.list(path);
      return listed.ok && listed.entries.filter(({ isIgnored }) => isIgnored).map(({ name }) => name);
    };
    expect(await ignored("/")).toEqual([".git", "a.log", "dist"]);
    expect(await ignored("/pkg")).toEqual(["#odd", "a.log", "only-here"]);
    expect(await ignored("/pkg/[b]")).toEqual(["a.ts"]);
    expect(await ignored("/dist")).toEqual([]);
    expect(await ignored("/.git")).toEqual([]);
  });
});
