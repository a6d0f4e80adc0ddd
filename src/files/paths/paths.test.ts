import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { nearPaths, nearWords } from "../text/near.ts";
import { foldersAbove, parsePath } from "./paths.ts";

describe("parsePath", () => {
  it.each([
    ["a.md", "/a.md"],
    ["", "/"],
    [".", "/"],
    ["//a///b/", "/a/b"],
    ["./a/./b", "/a/b"],
    ["/%2e%2e/x", "/%2e%2e/x"],
    ["/..a/b..", "/..a/b.."],
  ])("reads %j as %s", (raw, path) => {
    expect(parsePath(raw)).toEqual({ ok: true, path });
  });

  it.each(["..", "/a/../b", "a\\b", "C:", "/c:/x", "a\0", "a\nb", "/...", "/. ./..", "\uDC00"])(
    "refuses %j",
    (raw) => {
      expect(parsePath(raw)).toMatchObject({
        ok: false,
        error: expect.stringContaining("The path") as string,
      });
    },
  );

  it("gives one spelling, which it reads as itself", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "/", ".", " ", "é", "\\", ":") }), (raw) => {
        const parsed = parsePath(raw);
        fc.pre(parsed.ok);
        expect(parsePath(parsed.path)).toEqual(parsed);
        expect(parsed.path.split("/")).not.toContain("..");
      }),
    );
  });
});

describe("foldersAbove", () => {
  it("goes up to the root", () => {
    expect(foldersAbove("/a/b/c")).toEqual(["/a/b", "/a", "/"]);
    expect(foldersAbove("/")).toEqual([]);
  });
});

describe("nearPaths", () => {
  const known = ["/src/index.ts", "/src/plan/index.ts", "/src/App.tsx", "/docs/guide.md", "/x"];

  it.each([
    ["/index.ts", ["/src/index.ts", "/src/plan/index.ts"]],
    ["/src/app.tsx", ["/src/App.tsx"]],
    ["/src/app.jsx", ["/src/App.tsx"]],
    ["/docs/giude.md", ["/docs/guide.md"]],
    ["/q", []],
  ])("for %s suggests %j", (path, near) => {
    expect(nearPaths(path, known)).toEqual(near);
  });
});

describe("nearWords", () => {
  it.each([
    ["prest", ["preset"]],
    ["modle", ["model"]],
    ["MODEL", ["model"]],
    ["rnu", ["run"]],
    ["x", []],
  ])("for %s suggests %j", (word, near) => {
    expect(nearWords(word, ["preset", "model", "run", "rm"])).toEqual(near);
  });
});
