import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { redact } from "./redact.ts";

it.each([
  ["Authorization: Bearer abcdef123", "Authorization: Bearer [hidden]"],
  ['{"api_key": "abcdef123"}', '{"api_key": "[hidden]"}'],
  ["api-key=Bearer abcdef123==", "api-key=[hidden] [hidden]"],
  ["basic   dXNlcjpwYXNz and more", "basic   [hidden] and more"],
  ["bearer bearer abcdef123", "bearer [hidden] [hidden]"],
  ["bearer short", "bearer short"],
  ["https://a/b?x=1&api_key=abc&y=2#z", "https://a/b?x=1&api_key=[hidden]&y=2#z"],
  ["https://a/b?TOKEN=abc?key=def next", "https://a/b?TOKEN=[hidden] next"],
  ["https://me:secret@host/x", "https://[hidden]@host/x"],
  ["key sk-abcdefghijk.", "key [hidden]"],
  ["monkey=3", "monkey=3"],
])("%j reads %j", (text, expected) => {
  expect(redact(text, {})).toBe(expected);
});

/** Rows that make a pattern start again at each of their characters. A quadratic one would need hours for them. */
it.each([" ", "=", "bearer ", "basic=", "?key=", "&", "sk-", "://", "a.", "?a", "bearer\n: "])(
  "a text of two million characters, all %j, is read once",
  (piece) => {
    const text = piece.repeat(2_000_000 / piece.length);
    expect(redact(`${text} bearer abcdef123`, {}).endsWith(" [hidden]")).toBe(true);
  },
);

it("no pattern in the source has a lookbehind of variable length", () => {
  const src = join(import.meta.dirname, "../..");
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !file.endsWith(".test.ts"),
  );
  const wrong = files.flatMap((file) =>
    readFileSync(join(src, file), "utf8")
      .split("\n")
      .filter((line) => /\(\?<[=!][^)]*(?:\([^)]*\)[^)]*)*(?:[\])\w.][+*]|\{\d+,\})/.test(lookbehind(line)))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(wrong).toEqual([]);
});

/** The first look back in a line, up to its own closing bracket. */
function lookbehind(line: string): string {
  const start = line.search(/\(\?<[=!]/);
  if (start < 0) return "";
  let depth = 0;
  for (let at = start; at < line.length; at += 1) {
    if (line[at] === "(") depth += 1;
    if (line[at] === ")" && (depth -= 1) === 0) return line.slice(start, at + 1);
  }
  return line.slice(start);
}
