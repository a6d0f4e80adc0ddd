import { InMemoryStore } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import type { FileBackend } from "../backend/index.ts";
import { compositeBackend } from "./composite.ts";
import { stateFiles } from "./state.ts";
import { storeBackend } from "./store.ts";

async function names(backend: FileBackend, path: string): Promise<string[]> {
  const listed = await backend.list(path);
  return listed.ok
    ? listed.entries.map(({ path: shown, isDirectory }) => shown + (isDirectory ? "/" : ""))
    : [];
}

describe("a composite backend", () => {
  const setUp = () => {
    const main = stateFiles({ "/a.md": "needle", "/memories/hidden.md": "needle" });
    const memories = storeBackend(new InMemoryStore(), ["m"]);
    const deep = stateFiles({ "/d.md": "needle\nneedle" });
    return {
      main,
      memories,
      deep,
      backend: compositeBackend(main, { "/memories/": memories, "/x/y": deep }),
    };
  };

  it("sends each path to the mount with the longest prefix", async () => {
    const { backend, main, memories } = setUp();
    await backend.write("/memories/m.md", "remember");
    await backend.write("memories.md", "not in the mount");
    expect(await memories.read("/m.md")).toEqual({ ok: true, content: "remember" });
    expect(main.files()).toHaveProperty(["memories.md"], "not in the mount");
    const nested = compositeBackend(main, {
      "/m": stateFiles({ "/f": "outer" }),
      "/m/n": stateFiles({ "/f": "inner" }),
    });
    expect(await nested.read("/m/f")).toMatchObject({ content: "outer" });
    expect(await nested.read("/m/n/f")).toMatchObject({ content: "inner" });
  });

  it("shows mounts as folders, and hides the files that the mounts cover", async () => {
    const { backend } = setUp();
    await backend.write("/memories/m.md", "remember");
    expect(await names(backend, "/")).toEqual(["/a.md", "/memories/", "/x/"]);
    expect(await names(backend, "/memories")).toEqual(["/memories/m.md"]);
    expect(await names(backend, "/x")).toEqual(["/x/y/"]);
    expect(await names(backend, "/x/y")).toEqual(["/x/y/d.md"]);
    expect(await backend.read("/memories/hidden.md")).toMatchObject({ ok: false });
    expect(await backend.write("/x", "in the way")).toMatchObject({ error: `"/x" is a folder, not a file.` });
    expect(await backend.write("/memories", "in the way")).toMatchObject({ ok: false });
  });

  it("hides a hidden mount until there are files in it", async () => {
    const backend = compositeBackend(stateFiles({ "/a.md": "a" }), { "/.kept/results": stateFiles({}) });
    expect(await names(backend, "/")).toEqual(["/a.md"]);
    await backend.write("/.kept/results/r.md", "r");
    expect(await names(backend, "/")).toEqual(["/.kept/", "/a.md"]);
    expect(await names(backend, "/.kept")).toEqual(["/.kept/results/"]);
  });

  it("shows a hidden mount whose files are all ignored", async () => {
    const mount = stateFiles({ "/.gitignore": "*", "/deep/r.md": "r" });
    const backend = compositeBackend(stateFiles({ "/a.md": "a" }), { "/.kept/": mount });
    expect(await names(backend, "/")).toEqual(["/.kept/", "/a.md"]);
  });

  it("searches everywhere, with the paths that it shows", async () => {
    const { backend } = setUp();
    await backend.write("/memories/m.md", "needle");
    const paths = ["/a.md", "/memories/m.md", "/x/y/d.md"];
    expect(await backend.glob("**/*.md")).toEqual({ ok: true, paths });
    expect(await backend.glob("/memories/*.md")).toEqual({ ok: true, paths: ["/memories/m.md"] });
    expect(await backend.glob("{a,x}*/**", { path: "/" })).toEqual({ ok: true, paths: ["/x/y/d.md"] });
    expect(await backend.glob("*/*.md", { path: "/x" })).toEqual({ ok: true, paths: ["/x/y/d.md"] });
    const found = await backend.grep({ pattern: "needle", output: "count" });
    expect(found.ok && found.files.map(({ path, count }) => [path, count])).toEqual([
      ["/a.md", 1],
      ["/memories/m.md", 1],
      ["/x/y/d.md", 2],
    ]);
    expect(await backend.grep({ pattern: "needle", glob: "/x/**" })).toMatchObject({
      files: [{ path: "/x/y/d.md" }],
    });
  });

  it("applies the maximum of matches to all mounts together", async () => {
    const { backend } = setUp();
    await backend.write("/memories/m.md", "needle");
    const found = await backend.grep({ pattern: "needle", maxMatches: 3 });
    expect(found).toMatchObject({
      files: [
        { path: "/a.md" },
        { path: "/memories/m.md" },
        { path: "/x/y/d.md", count: 1, lines: [{ line: 1 }] },
      ],
      notes: [expect.stringContaining("Stopped at 3 matching lines")],
    });
  });

  it("speaks of the paths that it shows when something fails", async () => {
    const { backend } = setUp();
    expect(await backend.read("/x/y/dd.md")).toMatchObject({
      error: `There is no file "/x/y/dd.md". Did you mean "/x/y/d.md"?`,
    });
    expect(await backend.read("/x/y")).toMatchObject({ error: `"/x/y" is a folder, not a file.` });
    expect(await backend.edit("/x/y/d.md", { oldString: "none", newString: "x" })).toMatchObject({
      error: expect.stringContaining(`"/x/y/d.md" was not changed.`) as string,
    });
  });

  it("runs commands where its main backend does", async () => {
    const execute: NonNullable<FileBackend["execute"]> = async (command) => ({
      ok: true,
      output: command,
      exitCode: 0,
      timedOut: false,
      truncated: false,
    });
    const backend = compositeBackend({ ...stateFiles({}), execute }, {});
    expect(await backend.execute?.("ls")).toMatchObject({ output: "ls" });
    expect(compositeBackend(stateFiles({}), { "/m": { ...stateFiles({}), execute } })).not.toHaveProperty(
      "execute",
    );
  });

  it("throws for mounts that cannot be", () => {
    expect(() => compositeBackend(stateFiles({}), { "/": stateFiles({}) })).toThrow("root");
    expect(() => compositeBackend(stateFiles({}), { "/../x": stateFiles({}) })).toThrow("..");
    expect(() => compositeBackend(stateFiles({}), { "/m": stateFiles({}), "m/": stateFiles({}) })).toThrow(
      "Two",
    );
  });
});
