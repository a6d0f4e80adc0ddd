import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { mergeText } from "../text/merge-text.ts";
import { diffFiles, mergeFiles, type FilesUpdate } from "./merge-files.ts";

type Files = Record<string, string>;

/** What should become of a file that two writers, who began with the same text, left in these states. */
function outcome(
  was: string | null,
  ours: string | null,
  theirs: string | null,
): { text: string | null; loser?: string } {
  if (ours === was || ours === theirs) return { text: theirs };
  if (theirs === was) return { text: ours };
  if (ours === null || theirs === null) return { text: ours ?? theirs };
  if (was === null) return { text: theirs, loser: ours };
  const { text, conflicts } = mergeText(was, ours, theirs);
  return conflicts > 0 ? { text, loser: ours } : { text };
}

describe("mergeFiles", () => {
  const base = { "report.md": "one\ntwo\nthree\n", "/notes.md": "n" };

  it("seeds, replaces and deletes with a flat record, and keeps the keys of the seed", () => {
    const seeded = mergeFiles(undefined, { "report.md": "text", "/a/b.md": "x" });
    expect(seeded).toEqual({ "report.md": "text", "/a/b.md": "x" });
    expect(mergeFiles(seeded, { "/report.md": "new", "a/b.md": null })).toEqual({ "report.md": "new" });
  });

  it("takes DeepAgents' records of files, of lines, text or bytes, for their content", () => {
    const update = {
      "/lines.md": { content: ["a", "b"], created_at: "", modified_at: "" },
      "/text.md": { content: "c", mimeType: "text/plain" },
      "/bytes": { content: new Uint8Array([0, 1]) },
      "/none": { mimeType: "text/plain" },
    };
    const files = mergeFiles({}, update as never);
    expect(files).toEqual({
      "/lines.md": "a\nb",
      "/text.md": "c",
      "/bytes": "data:application/octet-stream;base64,AAE=",
    });
    expect(diffFiles(files, update as never)).toEqual({});
  });

  it("returns the same record when nothing changes, also when LangGraph resends it", () => {
    expect(mergeFiles(base, { ...base })).toBe(base);
    expect(mergeFiles(base, undefined)).toBe(base);
    expect(mergeFiles(base, { "gone.md": null })).toBe(base);
  });

  it("keeps the changes of all writers to different files", () => {
    const first = mergeFiles(base, diffFiles(base, { ...base, "/a.md": "a" }));
    const second = mergeFiles(first, diffFiles(base, { "report.md": base["report.md"] }));
    expect(second).toEqual({ "report.md": base["report.md"], "/a.md": "a" });
  });

  it("merges two changes of one file that touch different text", () => {
    const [top, end] = [base["report.md"].replace("one", "1"), base["report.md"].replace("three", "3")];
    const merged = mergeFiles(
      mergeFiles(base, diffFiles(base, { ...base, "report.md": top })),
      diffFiles(base, { ...base, "report.md": end }),
    );
    expect(merged).toEqual({ ...base, "report.md": "1\ntwo\n3\n" });
  });

  it("keeps the later of two conflicting changes, and the earlier in a file next to it", () => {
    const change = (to: string): FilesUpdate => diffFiles(base, { ...base, "report.md": to });
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

  it("keeps both of two files that were created under the same name", () => {
    const merged = mergeFiles(mergeFiles({}, { "/a": { base: null, content: "x" } }), {
      a: { base: null, content: "y" },
    });
    expect(merged).toEqual({ "/a": "y", "/a.conflict-1": "x" });
  });

  it("keeps an edit when another writer deletes the file, in either order", () => {
    const edit = diffFiles(base, { ...base, "/notes.md": "edited" });
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

  it("never throws on any input, and is deterministic", () => {
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
      { numRuns: rounds(1000) },
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

  it("makes no difference when a change arrives twice in a row", () => {
    fc.assert(
      fc.property(files, files, (start, after) => {
        const once = mergeFiles(start, diffFiles(start, after));
        expect(mergeFiles(once, diffFiles(start, after))).toBe(once);
      }),
    );
  });

  it("does right by every file that two parallel writers touch", () => {
    const few = fc.dictionary(fc.constantFrom("/a", "/b.md", "/d/c"), text, { maxKeys: 3 });
    fc.assert(
      fc.property(few, few, few, (start, first, second) => {
        const [a, b] = [diffFiles(start, first), diffFiles(start, second)];
        const merged = mergeFiles(mergeFiles(start, a), b);
        for (const key of ["/a", "/b.md", "/d/c"]) {
          const [was, ours, theirs] = [start[key] ?? null, first[key] ?? null, second[key] ?? null];
          const kept = merged[key] ?? null;
          const expected = outcome(was, ours, theirs);
          expect([kept, merged[`${key}.conflict-1`]]).toEqual([expected.text, expected.loser]);
        }
      }),
      { numRuns: rounds(500) },
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
