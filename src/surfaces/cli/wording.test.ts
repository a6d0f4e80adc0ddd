import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { HOSTILE, left } from "../../../test/hostile.ts";
import { quoted } from "./wording.ts";

it("a shell reads every word as it was, and nobody who sees it quoted is harmed", () => {
  const words = [
    "plain-word_1.md",
    "my  thread",
    "it's",
    "~root",
    "$(touch x)",
    "`touch x`",
    "a\\b\nc\td",
    "*",
  ];
  const env = { ...process.env, LC_ALL: "C.UTF-8" };
  for (const word of [...words, "", "ü漢👋", HOSTILE, `it's ${HOSTILE} \\`]) {
    expect(left(quoted(word))).toEqual([]);
    expect(quoted(word)).not.toContain("\n");
    const read = execFileSync("bash", ["-c", `printf %s ${quoted(word)}`], { env, encoding: "utf8" });
    expect(read).toBe(word);
  }
});
