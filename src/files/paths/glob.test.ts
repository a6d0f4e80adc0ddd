import { describe, expect, it } from "vitest";
import { compileFilter, compileGlob } from "./glob.ts";

function matches(pattern: string, path: string, folder = "/"): boolean {
  const compiled = compileGlob(pattern, folder);
  if (!compiled.ok) throw new Error(compiled.error);
  return compiled.glob.matches(path);
}

describe("compileGlob", () => {
  it.each([
    ["/src/**/*.ts", "/src/a.ts", true],
    ["/src/**/*.ts", "/src/x/y/a.ts", true],
    ["src/**", "/src/.hidden/a", true],
    ["**/*.{ts,md}", "/a.md", true],
    ["*.ts", "/src/a.ts", false],
    ["./a.ts", "/a.ts", true],
    ["src/", "/src/a/b.ts", true],
    ["!a.ts", "/!a.ts", true],
    ["#a.ts", "/#a.ts", true],
    ["a+(b).ts", "/a+(b).ts", true],
    ["app/[id]/page.tsx", "/app/[id]/page.tsx", true],
    ["app/\\[id\\]/*", "/app/[id]/page.tsx", true],
    ["[", "/[", true],
  ])("%s and %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it("matches only in the folder, whose own name is taken as it is", () => {
    expect(matches("*.ts", "/[a]*/x.ts", "/[a]*")).toBe(true);
    expect(matches("*.ts", "/a/x.ts", "/[a]*")).toBe(false);
    expect(matches("/**/*.ts", "/b/x.ts", "/a")).toBe(false);
  });

  it("finds the folder to start in, and the literal names of the pattern", () => {
    const compiled = compileGlob("/src/node_modules/**/*.ts", "/");
    expect(compiled).toMatchObject({ glob: { folder: "/src/node_modules" } });
    expect(compiled.ok && compiled.glob.names).toContain("node_modules");
    expect(compileGlob("/src/a.ts", "/")).toMatchObject({ glob: { folder: "/src" } });
    expect(compileGlob("/**", "/src")).toMatchObject({ glob: { folder: "/src" } });
  });

  it("tells where a pattern leads", () => {
    const compiled = compileGlob("/a/*/c.md", "/");
    const leads = (folder: string): boolean => compiled.ok && compiled.glob.leadsTo(folder);
    expect(["/", "/a", "/a/b", "/b", "/a/b/d"].map(leads)).toEqual([true, true, true, false, false]);
  });

  it.each([
    `${"*a".repeat(40)}b`,
    `${"**/a/".repeat(100)}b`,
    `${"[ab]*".repeat(40)}c`,
    `${"?*".repeat(100)}b`,
    "{a,b}".repeat(7),
    "[".repeat(999),
  ])("does not hang on %s", (pattern) => {
    expect(matches(pattern, `/${"a".repeat(250)}/${"a/".repeat(200)}`)).toBe(false);
  });

  it.each(["", " ", "../a", "a/../b", "{a,b}".repeat(8), "x".repeat(1001), "/a\0/*", "C:/x/*"])(
    "refuses %j",
    (pattern) => {
      expect(compileGlob(pattern, "/").ok).toBe(false);
    },
  );
});

describe("compileFilter", () => {
  it("matches a pattern without a slash with the name of a file at any depth", () => {
    const compiled = compileFilter("*.ts", "/src");
    expect(compiled.ok && compiled.glob.matches("/src/x/y/a.ts")).toBe(true);
    expect(compiled.ok && compiled.glob.matches("/lib/a.ts")).toBe(false);
  });
});
