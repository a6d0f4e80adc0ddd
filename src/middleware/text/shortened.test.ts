import { expect, it } from "vitest";
import { shortened } from "./shortened.ts";

it.each([
  ["an emoji at the edge", `${"a".repeat(58)}😀😀 more`, `${"a".repeat(58)}…`],
  ["an emoji that just fits", `${"a".repeat(57)}😀😀 more`, `${"a".repeat(57)}😀…`],
  ["a family of joined emoji", `${"a".repeat(55)}👩‍👩‍👧‍👦 and more`, `${"a".repeat(55)}…`],
  ["a letter and its accent", `${"a".repeat(58)}e\u0301 and more`, `${"a".repeat(58)}…`],
  ["words", "word ".repeat(20), `${"word ".repeat(11).trim()}…`],
  ["lines", "one\n  two\t three ", "one two three"],
])("a cut leaves characters whole: %s", (_what, text, expected) => {
  const title = shortened(text);
  expect(title).toBe(expected);
  expect(title).not.toMatch(/\p{Surrogate}/u);
  expect(title.length).toBeLessThanOrEqual(60);
});
