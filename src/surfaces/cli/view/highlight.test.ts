import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { harmless, shown, type Harmless } from "../output/harmless.ts";
import { colourPaint, type Paint } from "../output/paint.ts";
import { highlighted } from "./highlight.ts";

/** Names the style instead of showing it. */
const named: Paint = (style, text) => shown`<${harmless([style].flat().join("+"))} ${text}>`;
const look = (line: string, language: string): string => highlighted(harmless(line), language, named);

it.each([
  ["ts", `const a = "b"; // 1`, `<magenta const> a = <green "b">; <dim // 1>`],
  ["python", "def a(): # it's", "<magenta def> a():<dim  # it's>"],
  ["sh", `echo "$HOME#1" # home`, `echo <green "$HOME#1"><dim  # home>`],
  ["sql", "SELECT 1 FROM a -- all", "<magenta SELECT> <yellow 1> <magenta FROM> a <dim -- all>"],
  ["json", `  "a": "b", "c": 12`, `  <cyan "a">: <green "b">, <cyan "c">: <yellow 12>`],
  ["yaml", "name: 'x' # why", "<cyan name>: <green 'x'><dim  # why>"],
  ["html", `<a href="b">c</a>`, `<magenta <a> href=<green "b"><magenta >>c<magenta </a><magenta >>`],
  ["diff", "-old", "<red -old>"],
  ["diff", "+new", "<green +new>"],
  ["", "const a", "const a"],
  ["text", "if 1", "if 1"],
])("colours %s: %s", (language, line, expected) => {
  expect(look(line, language)).toBe(expected);
});

it("changes no letter of any line, in any language", () => {
  const languages = fc.constantFrom("ts", "python", "sql", "json", "html", "diff", "unheard-of", "");
  fc.assert(
    fc.property(fc.string(), languages, (text, language) => {
      const line: Harmless = harmless(text);
      expect(stripVTControlCharacters(highlighted(line, language, colourPaint))).toBe(line);
    }),
  );
});
