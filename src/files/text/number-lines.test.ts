import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { numberedLines, numberLines, splitLines, type LinePage } from "./number-lines.ts";

function shown(content: string, page?: LinePage): string {
  const result = numberLines(content, page);
  return result.ok ? result.text : `failed: ${result.error}`;
}

describe("numberLines", () => {
  it("numbers lines from 1, as cat -n does", () => {
    expect(shown("a\n\nb\n")).toBe("     1\ta\n     2\t\n     3\tb");
    expect(shown("a\r\nb")).toBe("     1\ta\n     2\tb");
  });

  it("shows a page and says how to read on", () => {
    const content = "a\nb\nc\nd\n";
    expect(shown(content, { limit: 2 })).toBe(
      "     1\ta\n     2\tb\n[Lines 1-2 of 4. To read on, use offset 2.]",
    );
    expect(shown(content, { offset: 2, limit: 2 })).toBe("     3\tc\n     4\td");
  });

  it("can be read back, line by line, without its notes", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "1", "\t", "[", " ", "\r", "\n") });
    fc.assert(
      fc.property(text, fc.nat(3), fc.integer({ min: 1, max: 4 }), (content, offset, limit) => {
        const lines = splitLines(content).slice(offset, offset + limit);
        const expected = lines.map((line, index) => [offset + index + 1, line]);
        expect([...numberedLines(shown(content, { offset, limit }))]).toEqual(expected);
      }),
    );
  });

  it("says that a file is empty", () => {
    expect(shown("")).toBe("[The file is empty.]");
    expect(shown("\n")).toBe("     1\t");
  });

  it("refuses an offset after the end, and gives the length of the file", () => {
    expect(shown("a\nb", { offset: 2 })).toBe(
      "failed: The offset 2 is behind the end: the file has 2 lines.",
    );
    expect(shown("a", { offset: 9 })).toContain("1 line.");
  });

  it("cuts long lines, never inside a character", () => {
    expect(shown("x".repeat(2000))).toHaveLength(2007);
    expect(shown(`a\n${"x".repeat(2001)}`)).toMatch(
      /\n {5}2\tx{2000} \[cut: the line has 2001 characters; to see more of it, use offset 1, limit 1\]$/,
    );
    expect(shown(`${"x".repeat(1999)}🎉`)).toMatch(/\tx{1999} \[cut/);
  });

  it("shows a long line whole when only that line is requested", () => {
    expect(shown(`a\n${"x".repeat(50_000)}`, { offset: 1, limit: 1 })).toBe(`     2\t${"x".repeat(50_000)}`);
  });

  it("shows a line of any length whole, part by part", () => {
    const line = `${"x".repeat(89_999)}🎉${"y".repeat(120_000)}`;
    const parts: string[] = [];
    let column: number | undefined = 0;
    while (column !== undefined) {
      const text = shown(`a\n${line}\nb`, { offset: 1, limit: 1, column });
      const [, part, next] =
        /^ {5}2\t(?:\[from column \d+\] )?(.*?)(?: \[cut: the line has 210001 characters; to see more of it, use offset 1, limit 1, column (\d+)\])?\n/.exec(
          text,
        )!;
      parts.push(part!);
      column = next === undefined ? undefined : Number(next);
    }
    expect(parts).toHaveLength(3);
    expect(parts.every((part) => part.isWellFormed())).toBe(true);
    expect(parts.join("")).toBe(line);
    expect(shown("abc", { column: 1 })).toBe("     1\t[from column 1] bc");
    expect(shown("abc", { column: 3 })).toBe(
      "failed: The column 3 is behind the end: the line has 3 characters.",
    );
  });

  it("takes odd numbers for the nearest sensible ones", () => {
    expect(shown("a\nb", { offset: -5, limit: 0 })).toContain("     1\ta\n[Lines 1-1");
    expect(shown("a\nb", { offset: Number.NaN, limit: Number.NaN })).toContain("     1\ta\n[Lines 1-1");
  });

  it("shows every line exactly once when paged through", () => {
    const content = fc.array(fc.string({ maxLength: 5 }), { minLength: 1 }).map((lines) => lines.join("\n"));
    fc.assert(
      fc.property(content, fc.integer({ min: 1, max: 4 }), (text, limit) => {
        fc.pre(text !== "");
        const total = splitLines(text).length;
        const pages = Array.from({ length: Math.ceil(total / limit) }, (_, page) =>
          shown(text, { offset: page * limit, limit }).replace(/\n\[Lines .*$/, ""),
        );
        expect(pages.join("\n")).toBe(shown(text));
      }),
    );
  });
});
