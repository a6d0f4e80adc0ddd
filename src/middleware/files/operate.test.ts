import { describe, expect, it } from "vitest";
import { stateFiles } from "../../files/backends/state.ts";
import { withPermissions } from "../../files/index.ts";
import { operate } from "./operate.ts";

const files = stateFiles({
  "/a b/one.ts": "12345",
  "/a b/two.ts": "",
  "/c/d/three 7.ts": "123",
  "/r.md": "1",
});

describe("sizes", () => {
  it("follow a tab in a folder's list, and folders have none", async () => {
    const plain = await operate(files, { name: "ls", args: {} }, undefined);
    expect(plain.text).toBe("/a b/\n/c/\n/r.md");
    const sized = await operate(files, { name: "ls", args: { path: "/", sizes: true } }, undefined);
    expect(sized.text).toBe("/a b/\n/c/\n/r.md\t1");
    const inner = await operate(files, { name: "ls", args: { path: "/a b", sizes: true } }, undefined);
    expect(inner.text).toBe("/a b/one.ts\t5\n/a b/two.ts\t0");
  });

  it("follow a tab in the results of a glob over all folders", async () => {
    const args = { pattern: "**/*.ts", sizes: true };
    const found = await operate(files, { name: "glob", args }, undefined);
    expect(found.text).toBe("/a b/one.ts\t5\n/a b/two.ts\t0\n/c/d/three 7.ts\t3");
    const none = await operate(files, { name: "glob", args: { ...args, pattern: "*.py" } }, undefined);
    expect(none).toEqual({ ok: true, text: "No file matches." });
    const bad = await operate(files, { name: "glob", args: { ...args, pattern: " " } }, undefined);
    expect(bad.ok).toBe(false);
  });

  it("are left away where the folder cannot be listed", async () => {
    const guarded = withPermissions(files, [
      { effect: "allow", paths: "/c/d/three 7.ts" },
      { effect: "deny", paths: "/" },
    ]);
    const args = { pattern: "**", sizes: true };
    const found = await operate(guarded, { name: "glob", args }, undefined);
    expect(found.text).toBe("/c/d/three 7.ts\t3");
    const blind = {
      ...guarded,
      glob: files.glob.bind(files),
      list: async () => ({ ok: false as const, error: "no" }),
    };
    const unsized = await operate(blind, { name: "glob", args: { ...args, pattern: "/r.md" } }, undefined);
    expect(unsized.text).toBe("/r.md");
  });

  it("do not let a list grow without end", async () => {
    const many = Array.from({ length: 3000 }, (_, at) => [`/${"long ".repeat(8)}${at}.ts`, "1"] as const);
    const crowd = stateFiles(Object.fromEntries(many));
    const found = await operate(crowd, { name: "glob", args: { pattern: "*", sizes: true } }, undefined);
    expect(found.text).toMatch(
      /\n\[Cut after \d+ of 3000 lines: \d+ more\. Narrow the pattern or the path\.\]$/,
    );
    expect(found.text.length).toBeLessThanOrEqual(100_000);
  });
});
