import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { mergeText } from "./merge-text.ts";

const BASE = "one\ntwo\nthree\nfour\nfive\n";

describe("mergeText", () => {
  it("keeps both of two changes on different lines", () => {
    const merged = mergeText(BASE, BASE.replace("one", "1"), BASE.replace("five", "5"));
    expect(merged).toEqual({ text: "1\ntwo\nthree\nfour\n5\n", conflicts: 0 });
  });

  it("keeps both of two changes on neighbouring lines, and in one line", () => {
    const lines = mergeText(BASE, BASE.replace("two", "2"), BASE.replace("three", "3"));
    expect(lines).toEqual({ text: "one\n2\n3\nfour\nfive\n", conflicts: 0 });
    expect(mergeText("let a = 1, b = 2;", "let a = 3, b = 2;", "let a = 1, b = 4;")).toEqual({
      text: "let a = 3, b = 4;",
      conflicts: 0,
    });
  });

  it("keeps an insertion and a deletion", () => {
    expect(mergeText(BASE, `zero\n${BASE}`, BASE.replace("four\n", ""))).toEqual({
      text: "zero\none\ntwo\nthree\nfive\n",
      conflicts: 0,
    });
  });

  it("takes the same change of both sides once", () => {
    const both = BASE.replace("two", "2");
    expect(mergeText(BASE, both, both)).toEqual({ text: both, conflicts: 0 });
    expect(mergeText(BASE, both, both.replace("five", "5")).text).toBe("one\n2\nthree\nfour\n5\n");
  });

  it("lets theirs win where both change the same, and merges the rest", () => {
    const ours = BASE.replace("one", "1").replace("five", "fünf");
    const theirs = BASE.replace("five", "cinq");
    expect(mergeText(BASE, ours, theirs)).toEqual({ text: "1\ntwo\nthree\nfour\ncinq\n", conflicts: 1 });
  });

  it("sees a conflict when both add different text in one place", () => {
    expect(mergeText("a\n", "a\nb\n", "a\nc\n")).toEqual({ text: "a\nc\n", conflicts: 1 });
    expect(mergeText("", "a", "b")).toEqual({ text: "b", conflicts: 1 });
  });

  it("is fast with long files that differ everywhere, and with many equal lines", () => {
    const long = Array.from({ length: 30_000 }, (_, index) => `line ${index % 7}\n`);
    const text = long.join("");
    const other = long.map((line) => `other ${line}`).join("");
    expect(mergeText(text, `top\n${text}`, `${text}end\n`)).toEqual({
      text: `top\n${text}end\n`,
      conflicts: 0,
    });
    expect(mergeText(text, other, `${text}end\n`).conflicts).toBeLessThanOrEqual(1);
  });

  const line = fc.constantFrom("a\n", "b\n", "c d\n", "\n", "x y z\n", "e");
  const text = fc.array(line, { maxLength: 8 }).map((lines) => lines.join(""));

  it("gives back the side that changed when only one did", () => {
    fc.assert(
      fc.property(text, text, (base, changed) => {
        expect(mergeText(base, base, changed)).toEqual({ text: changed, conflicts: 0 });
        expect(mergeText(base, changed, base)).toEqual({ text: changed, conflicts: 0 });
        expect(mergeText(base, changed, changed)).toEqual({ text: changed, conflicts: 0 });
      }),
    );
  });

  it("does not depend on the order of the sides unless they conflict", () => {
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const merged = mergeText(base, ours, theirs);
        const turned = mergeText(base, theirs, ours);
        expect(turned.conflicts).toBe(merged.conflicts);
        expect(turned.text === merged.text || merged.conflicts > 0).toBe(true);
      }),
      { numRuns: rounds(500) },
    );
  });

  it("applies two edits of different words as if one had been made after the other", () => {
    const words = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 3, maxLength: 12 });
    const gap = fc.constantFrom(" ", "\n", ", ", "\r\n");
    fc.assert(
      fc.property(words, fc.infiniteStream(gap), fc.nat(), fc.nat(), (list, gaps, first, second) => {
        const [a, b] = [first % list.length, second % list.length];
        fc.pre(a !== b);
        const between = list.map(() => gaps.next().value as string);
        const write = (changed: readonly number[]): string =>
          list.map((word, at) => (changed.includes(at) ? word.toUpperCase() : word) + between[at]).join("");
        expect(mergeText(write([]), write([a]), write([b]))).toEqual({ text: write([a, b]), conflicts: 0 });
      }),
    );
  });
});
