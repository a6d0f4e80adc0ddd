import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FileChange } from "./file-table.ts";
import { diffFiles, mergeFiles, type FilesUpdate } from "./merge-files.ts";
import { stateFiles } from "./state.ts";

type Files = Record<string, string>;

/** The changes that one tool call makes, starting from the files that it was given. */
function changesOf(before: Files, after: Files): Record<string, FileChange> {
  return diffFiles(before, after);
}

describe("mergeFiles", () => {
  const base = { "report.md": "one\ntwo\nthree\n", "/notes.md": "n" };

  it("seeds, replaces and deletes with a flat record, and keeps keys as they were seeded", () => {
    const seeded = mergeFiles(undefined, { "report.md": "text", "/a/b.md": "x" });
    expect(seeded).toEqual({ "report.md": "text", "/a/b.md": "x" });
    expect(mergeFiles(seeded, { "/report.md": "new", "a/b.md": null })).toEqual({ "report.md": "new" });
  });

  it("returns the same record when nothing changes, as when LangGraph sends the state again", () => {
    expect(mergeFiles(base, { ...base })).toBe(base);
    expect(mergeFiles(base, undefined)).toBe(base);
    expect(mergeFiles(base, { "gone.md": null })).toBe(base);
  });

  it("keeps the changes of all writers to different files", () => {
    const first = mergeFiles(base, changesOf(base, { ...base, "/a.md": "a" }));
    const second = mergeFiles(first, changesOf(base, { "report.md": base["report.md"] }));
    expect(second).toEqual({ "report.md": base["report.md"], "/a.md": "a" });
  });

  it("merges two changes of one file that touch different text", () => {
    const [top, end] = [base["report.md"].replace("one", "1"), base["report.md"].replace("three", "3")];
    const merged = mergeFiles(
      mergeFiles(base, changesOf(base, { ...base, "report.md": top })),
      changesOf(base, { ...base, "report.md": end }),
    );
    expect(merged).toEqual({ ...base, "report.md": "1\ntwo\n3\n" });
  });

  it("lets the later of two conflicting changes win and keeps the earlier beside it", () => {
    const change = (to: string): FilesUpdate => changesOf(base, { ...base, "report.md": to });
    const once = mergeFiles(mergeFiles(base, change("1\ntwo\nthree\n")), change("uno\ntwo\nthree\n"));
    expect(once).toEqual({
      ...base,
      "report.md": "uno\ntwo\nthree\n",
      "report.md.conflict-1": "1\ntwo\nthree\n",
    });
    const twice = mergeFiles(once, change("eins\ntwo\nthree\n"));
    expect(twice["report.md.conflict-2"]).toBe("uno\ntwo\nthree\n");
    expect(mergeFiles(twice, change("eins\ntwo\nthree\n"))).toBe(twice);
  });

  it("keeps both of two files that were made under one name", () => {
    const merged = mergeFiles(mergeFiles({}, { "/a": { base: null, content: "x" } }), {
      a: { base: null, content: "y" },
    });
    expect(merged).toEqual({ "/a": "y", "/a.conflict-1": "x" });
  });

  it("lets an edit outlive a delete that did not know of it, in either order", () => {
    const edit = changesOf(base, { ...base, "/notes.md": "edited" });
    const remove = { "/notes.md": { base: "n", content: null } };
    expect(mergeFiles(mergeFiles(base, edit), remove)["/notes.md"]).toBe("edited");
    expect(mergeFiles(mergeFiles(base, remove), edit)["/notes.md"]).toBe("edited");
    expect(mergeFiles(base, remove)).not.toHaveProperty("/notes.md");
  });

  it("is not confused by names that objects have anyway", () => {
    const odd = JSON.parse(`{ "__proto__": "p", "constructor": "c" }`) as Files;
    const merged = mergeFiles(odd, { toString: "t", "/__proto__": "changed" });
    expect(Object.entries(merged)).toEqual([
      ["__proto__", "changed"],
      ["constructor", "c"],
      ["toString", "t"],
    ]);
  });

  const path = fc.constantFrom(
    "a",
    "/a",
    "b.md",
    "/b.md",
    "/d/c",
    "d/c",
    "/d",
    "x//y",
    "",
    "/",
    "../z",
    "__proto__",
  );
  const text = fc
    .array(fc.constantFrom("1\n", "2\n", "3\n", "four five\n", "\n"), { maxLength: 6 })
    .map((lines) => lines.join(""));
  const files = fc.dictionary(path, text, { maxKeys: 4 });
  const nullable = fc.option(text, { nil: null });
  const update = fc.dictionary(path, fc.oneof(nullable, fc.record({ base: nullable, content: nullable })), {
    maxKeys: 4,
  });

  it("never throws, whatever it is given, and is deterministic", () => {
    const anything = fc.anything({
      withBigInt: true,
      withMap: true,
      withNullPrototype: true,
      withDate: true,
    });
    const value = fc.oneof(anything, update, fc.dictionary(path, anything));
    fc.assert(
      fc.property(value, value, (current, next) => {
        const merged = mergeFiles(current as Files, next as FilesUpdate);
        expect(mergeFiles(current as Files, next as FilesUpdate)).toEqual(merged);
      }),
      { numRuns: 1000 },
    );
  });

  it("does the same after the files and the update have been through JSON", () => {
    fc.assert(
      fc.property(files, update, (current, next) => {
        const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
        expect(mergeFiles(copy(current), copy(next))).toEqual(mergeFiles(current, next));
      }),
    );
  });

  it("makes no difference when a change arrives twice, as after a resume", () => {
    fc.assert(
      fc.property(files, files, files, (start, first, second) => {
        const [a, b] = [changesOf(start, first), changesOf(start, second)];
        const merged = mergeFiles(mergeFiles(start, a), b);
        expect(mergeFiles(merged, b)).toEqual(merged);
      }),
    );
  });

  it("loses no text of two parallel writers", () => {
    fc.assert(
      fc.property(files, files, files, (start, first, second) => {
        const [a, b] = [changesOf(start, first), changesOf(start, second)];
        const afterFirst = mergeFiles(start, a);
        const merged = mergeFiles(afterFirst, b);
        const texts = Object.values(merged);
        for (const [key, { base: was, content }] of Object.entries(b)) {
          const earlier = stateFiles(afterFirst);
          const now = earlier.files()[key] ?? null;
          // Where only the second writer changed the file, it has what that writer made of it.
          if (now === was && content !== null) expect(texts).toContain(content);
        }
        for (const [key, { content }] of Object.entries(a)) {
          if (content !== null && !(key in b) && !(`/${key}` in b) && !(key.slice(1) in b)) {
            expect(texts).toContain(content);
          }
        }
      }),
    );
  });
});

describe("diffFiles", () => {
  it("leads from one record to the other", () => {
    const texts = fc.dictionary(fc.constantFrom("a", "/b", "c/d"), fc.string());
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        expect(mergeFiles(before, diffFiles(before, after))).toEqual(after);
      }),
    );
  });
});
