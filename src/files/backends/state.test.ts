import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeFiles } from "./merge-files.ts";
import { stateFiles } from "./state.ts";

describe("stateFiles", () => {
  it("never writes to the record it was given", async () => {
    const files = Object.freeze({ "a.md": "x" });
    const backend = stateFiles(files);
    await backend.write("/a.md", "y");
    await backend.delete("/a.md");
    expect(files).toEqual({ "a.md": "x" });
  });

  it("keeps the keys of the seed, and those that new files were first written to", async () => {
    const backend = stateFiles({ "report.md": "r", "/b/c.md": "c" });
    await backend.write("/report.md", "new");
    await backend.write("todo.md", "t");
    await backend.write("/todo.md", "t2");
    await backend.write("./odd//d.md", "o");
    expect(backend.files()).toEqual({
      "report.md": "new",
      "/b/c.md": "c",
      "todo.md": "t2",
      "/odd/d.md": "o",
    });
  });

  it("collects what changed, with the text before it", async () => {
    const backend = stateFiles({ "a.md": "x", "b.md": "y", "c.md": "z" });
    await backend.write("/a.md", "x2");
    await backend.delete("/b.md");
    await backend.write("/d.md", "new");
    await backend.write("/c.md", "other");
    await backend.write("/c.md", "z");
    expect(backend.changes()).toEqual({
      "a.md": { base: "x", content: "x2" },
      "b.md": { base: "y", content: null },
      "/d.md": { base: null, content: "new" },
    });
  });

  it("shows a file and a folder of one name, if the seed has both", async () => {
    const backend = stateFiles({ "/a": "file", "/a/b": "inside" });
    expect(await backend.read("/a")).toMatchObject({ content: "file" });
    expect(await backend.glob("**")).toMatchObject({ paths: ["/a", "/a/b"] });
    const listed = await backend.list("/");
    expect(listed.ok && listed.entries.map((entry) => entry.isDirectory)).toEqual([false, true]);
  });

  it("ignores entries with an invalid path or content", async () => {
    const backend = stateFiles({ "..": "x", "": "y", n: 1 } as unknown as Record<string, string>);
    expect(await backend.list("/")).toEqual({ ok: true, entries: [] });
    expect(backend.changes()).toEqual({});
  });

  it("gives changes that merge: parallel edits of different lines survive in any order", async () => {
    const lines = Array.from({ length: 8 }, (_, index) => `line ${index}`);
    const files = { "/a.md": lines.join("\n"), "b.md": "b" };
    const order = fc.shuffledSubarray(lines, { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(order, async (edited) => {
        const updates = await Promise.all(
          edited.map(async (line) => {
            const backend = stateFiles(files);
            await backend.edit("a.md", { oldString: line, newString: `${line}, edited` });
            await backend.write(`/new-${line}.md`, line);
            return backend.changes();
          }),
        );
        const merged = updates.reduce<Record<string, string>>(
          (current, next) => mergeFiles(current, next),
          files,
        );
        const expected = lines.map((line) => (edited.includes(line) ? `${line}, edited` : line)).join("\n");
        expect(merged["/a.md"]).toBe(expected);
        expect(Object.keys(merged)).toHaveLength(2 + edited.length);
      }),
    );
  });
});
