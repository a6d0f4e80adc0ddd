import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replaceText } from "./replace-text.ts";

function replaced(content: string, oldString: string, newString: string, replaceAll = false): string {
  const result = replaceText(content, { oldString, newString, replaceAll });
  return result.ok ? result.content : `refused: ${result.error}`;
}

describe("replaceText", () => {
  it("replaces a single occurrence", () => {
    expect(replaced("a b c", "b", "x")).toBe("a x c");
    expect(replaced("a b c", " b", "")).toBe("a c");
  });

  it.each(["$&", "$1", "$`", "$'", "$$", "\\1", "$<x>"])("takes %s literally", (text) => {
    expect(replaced("a b c", "b", text)).toBe(`a ${text} c`);
    expect(replaced(`a ${text} c`, text, "b")).toBe("a b c");
    expect(replaced("b b", "b", text, true)).toBe(`${text} ${text}`);
  });

  it("reports how often and where an ambiguous text occurs", () => {
    expect(replaced("x\ny\nx x\n", "x", "z")).toMatch(/^refused: .* 3 times, on lines 1, 3, 3;/);
    expect(replaced("x\n".repeat(30), "x", "z")).toContain("lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and more");
    expect(replaced("x\ny\nx x\n", "x", "z", true)).toBe("z\ny\nz z\n");
  });

  it("counts occurrences that overlap once", () => {
    expect(replaced("aaa", "aa", "b", true)).toBe("ba");
  });

  it("refuses what would change nothing, and an empty text", () => {
    expect(replaced("a", "a", "a")).toContain("same");
    expect(replaced("a", "", "b")).toContain("empty");
    expect(replaced("a\r\nb", "a\nb", "a\r\nb")).toContain("line endings");
  });

  it("points at text that differs in whitespace only", () => {
    expect(replaced("one\n  two( x )\n", "two(x)", "three")).toContain(
      "line 2 differs from it only in whitespace",
    );
    expect(replaced("one\n", "two", "three")).toContain("not found; copy it");
    expect(replaced("one\n", "  \n ", "three")).toContain("not found; copy it");
  });

  it("points out line numbers that were copied with the text", () => {
    expect(replaced("a\nb\n", "     1\ta\n     2\tb", "c")).toContain("leave out the line numbers");
  });

  it("matches CRLF with LF and keeps CRLF", () => {
    expect(replaced("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz")).toBe("x\r\ny\r\nz\r\nc\r\n");
    expect(replaced("a\r\nb\r\n", "a", "x\ny")).toBe("x\r\ny\r\nb\r\n");
    expect(replaced("a\r\nb\r\n", "a\r\nb", "x\r\ny")).toBe("x\r\ny\r\n");
    expect(replaced("a\nb\n", "a\r\nb", "x\r\ny")).toBe("x\ny\n");
  });

  it("can change line endings when they are spelled out", () => {
    expect(replaced("a\r\nb\r\n", "\r\n", "\n", true)).toBe("a\nb\n");
  });

  it("leaves mixed endings around an edit as they are", () => {
    expect(replaced("a\r\nb\nc\r\nd\n", "b\nc", "x")).toBe("a\r\nx\r\nd\n");
    expect(replaced("a\nb\r\na\r\nb", "a\nb", "x")).toContain("2 times");
  });

  it("says on which lines the new text begins", () => {
    const result = replaceText("x\ny\nx\n", { oldString: "x", newString: "1\n2", replaceAll: true });
    expect(result).toEqual({ ok: true, content: "1\n2\ny\n1\n2\n", lines: [1, 4] });
  });

  it("does what splitting and joining does", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\t", "$"), maxLength: 30 });
    fc.assert(
      fc.property(text, text, text, (content, oldString, newString) => {
        fc.pre(oldString !== "" && oldString !== newString);
        const pieces = content.split(oldString);
        const result = replaceText(content, { oldString, newString, replaceAll: true });
        expect(result.ok ? result.content : undefined).toBe(
          pieces.length > 1 ? pieces.join(newString) : undefined,
        );
      }),
    );
  });

  it("treats a CRLF file like the same file with LF", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "\n", " "), maxLength: 20 });
    fc.assert(
      fc.property(text, text, text, fc.boolean(), (content, oldString, newString, replaceAll) => {
        const crlf = content.replaceAll("\n", "\r\n");
        fc.pre(content.includes("\n"));
        const lf = replaceText(content, { oldString, newString, replaceAll });
        const result = replaceText(crlf, { oldString, newString, replaceAll });
        expect(result.ok ? result.content : undefined).toBe(
          lf.ok ? lf.content.replaceAll("\n", "\r\n") : undefined,
        );
      }),
    );
  });
});
