import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { rounds } from "../../../test/helpers/runner/rounds.ts";
import { compilePattern } from "../search/pattern.ts";
import { diskBackend } from "./index.ts";
import { ripgrepCandidates, ripgrepPattern } from "./ripgrep.ts";

const installed = spawnSync("rg", ["--version"]).status === 0;
const root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-rg-")));
afterAll(() => rmSync(root, { recursive: true }));

describe("ripgrepPattern", () => {
  it.each([
    ["foo.*bar", "foo.*bar"],
    ["\\d+\\.", "[0-9]+\\."],
    ["[\\w.]+", "[0-9A-Za-z_.]+"],
    ["end$", "end(?:\\r?$)"],
    ["\\bword\\b", "(?-u:\\b)word(?-u:\\b)"],
    ["a\\/b", "a/b"],
    ["(?:a|b){2,3}?", "(?:a|b){2,3}?"],
  ])("translates %s", (pattern, translated) => {
    expect(ripgrepPattern(pattern)).toBe(translated);
  });

  it.each(["(?i)a", "\\pL", "[[:alpha:]]", "[a&&b]", "\\Qa\\E", "\\x41", "\\B", "[\\d-x]", "a{", "\\n"])(
    "leaves %s to the built-in search engine",
    (pattern) => {
      expect(ripgrepPattern(pattern)).toBeUndefined();
    },
  );
});

describe.runIf(installed)("a search with ripgrep", { timeout: 120_000 }, () => {
  const atom = fc.constantFrom(
    "a",
    "b",
    "é",
    "K",
    " ",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "\\b",
    "^",
    "$",
    "\\.",
    "\\$",
    "\\/",
    "-",
    "[ab]",
    "[^a]",
    "[\\w.]",
    "[a-c1]",
    "[^\\s]",
    "(a|b)",
    "(?:aé)",
    "[\\d\\-]",
    "(?i)",
  );
  const quantifier = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "*?");
  const pattern = fc
    .array(fc.tuple(atom, quantifier), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.flat().join(""));
  const character = fc.constantFrom(
    "a",
    "b",
    "c",
    "A",
    "é",
    "É",
    "k",
    "\u212A",
    " ",
    "1",
    ".",
    "$",
    "-",
    "_",
    "\t",
    "\n",
    "\r\n",
    "\r",
    "\uFEFF",
    "\u00A0",
  );
  const content = fc.string({ unit: character, maxLength: 30 });

  it("finds the same as a search without ripgrep", async () => {
    const [plain, fast] = [diskBackend(root, { ripgrep: false }), diskBackend(root)];
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(
        pattern,
        fc.array(content, { maxLength: 4 }),
        fc.boolean(),
        fc.boolean(),
        async (...input) => {
          const [text, contents, regex, ignoreCase] = input;
          for (const index of [0, 1, 2, 3]) await plain.write(`/d/${index}.txt`, contents[index] ?? "");
          const query = { pattern: text, regex, ignoreCase, before: 1 };
          expect(await fast.grep(query)).toEqual(await plain.grep(query));
          if (compilePattern(query).ok && (!regex || ripgrepPattern(text) !== undefined)) tried += 1;
        },
      ),
      { numRuns: rounds(100) },
    );
    expect(tried).toBeGreaterThan(rounds(20));
  });

  it("passes the pattern as an argument, never to a shell, and finds hidden files", async () => {
    await diskBackend(root).write("/.hidden/x.txt", "$(touch pwned) --files");
    const scope = { root, folder: "/", skip: [], timeout: 120_000 };
    expect(await ripgrepCandidates({ pattern: "$(touch pwned)" }, scope)).toEqual(["/.hidden/x.txt"]);
    expect(await ripgrepCandidates({ pattern: "--files" }, scope)).toEqual(["/.hidden/x.txt"]);
    expect(await ripgrepCandidates({ pattern: "nowhere" }, scope)).toEqual([]);
  });

  it("throws the reason of an abort", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    const scope = { root, folder: "/", skip: [], timeout: 120_000 };
    await expect(ripgrepCandidates({ pattern: "x", signal }, scope)).rejects.toThrow("enough");
  });
});
