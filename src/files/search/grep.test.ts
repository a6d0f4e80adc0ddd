import { describe, expect, it } from "vitest";
import { stateFiles } from "../backends/state.ts";
import { renderGrep } from "./grep.ts";
import { compilePattern } from "./pattern.ts";

const FILES = { "/a.ts": "one\ntwo\nthree\nfour\nfive\nsix two\n", "/b.ts": "two\n" };

async function shown(query: Parameters<ReturnType<typeof stateFiles>["grep"]>[0]): Promise<string> {
  const result = await stateFiles(FILES).grep(query);
  return result.ok ? renderGrep(result, query.output) : result.error;
}

describe("renderGrep", () => {
  it("shows lines under their file, with context marked and gaps kept apart", async () => {
    expect(await shown({ pattern: "two", before: 1 })).toBe(
      "/a.ts\n1-one\n2:two\n--\n5-five\n6:six two\n\n/b.ts\n1:two",
    );
    expect(await shown({ pattern: "two" })).toBe("/a.ts\n2:two\n6:six two\n\n/b.ts\n1:two");
  });

  it("shows files, counts, nothing, and notes", async () => {
    expect(await shown({ pattern: "two", output: "files" })).toBe("/a.ts\n/b.ts");
    expect(await shown({ pattern: "two", output: "count" })).toBe("/a.ts:2\n/b.ts:1");
    expect(await shown({ pattern: "seven" })).toBe("No matches.");
    expect(await shown({ pattern: "two", output: "files", maxMatches: 1 })).toBe(
      "/a.ts\n[Stopped at 1 file: there are more. Narrow the pattern, the path or the glob.]",
    );
  });

  it("cuts long lines", () => {
    const file = { path: "/a", count: 1, lines: [{ line: 1, text: "x".repeat(900), isMatch: true }] };
    expect(renderGrep({ files: [file], notes: [] })).toMatch(/x{500} \[cut: the line has 900 characters\]$/);
  });
});

it("a line of megabytes is cut in the result of a search, with its length", async () => {
  const result = await stateFiles({ "/a.json": `needle ${"x".repeat(9_000_000)}` }).grep({
    pattern: "needle",
  });
  const [line] = result.ok ? result.files[0]!.lines : [];
  expect(line!.text.length).toBeLessThan(11_000);
  expect(line!.text).toMatch(/ \[cut: the line has 9000007 characters\]$/);
  const text = result.ok ? renderGrep(result) : "";
  expect(text).toMatch(/x{493} \[cut: the line has 9000007 characters\]$/);
});

describe("compilePattern", () => {
  it("takes plain text for plain text, in any case if asked", () => {
    const plain = compilePattern({ pattern: "A.B[", ignoreCase: true });
    expect(plain.ok && ["xa.b[y", "aXb["].map(plain.matcher.line)).toEqual([true, false]);
  });

  it.each(["(a+)+$", "(a|aa)+$", "(.*)*x", "(x+x+)+y"])("answers %s at once", (pattern) => {
    const compiled = compilePattern({ pattern, regex: true });
    expect(compiled.ok && compiled.matcher.line(`${"ax".repeat(20_000)}!`)).toBe(pattern === "(.*)*x");
  });

  it("refuses what would take long after all", () => {
    const compiled = compilePattern({ pattern: "(?:a?){1000}a{1000}", regex: true });
    expect(compiled).toMatchObject({ ok: false, error: expect.stringContaining("too complex") as string });
  });
});
