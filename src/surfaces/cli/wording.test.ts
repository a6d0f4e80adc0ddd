import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { HOSTILE, left } from "../../../test/helpers/measure/hostile-text.ts";
import { offersAfter } from "./parser/index.ts";
import { asTyped, COMMANDS, quoted } from "./wording.ts";

it("a shell reads every quoted word unchanged, and quoting makes words harmless", () => {
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

it("every command is known by its name in a sentence", async () => {
  const { stdin, stdout, stderr } = process;
  const names = await offersAfter([], "", { stdin, stdout, stderr, env: {}, cwd: "/" });
  expect(names.toSorted()).toEqual(COMMANDS.split("|").toSorted());
  const env = { HOLDFAST_COMMAND: "npm start --" };
  expect(asTyped("Use holdfast login; holdfast trusts nobody.", env)).toBe(
    "Use npm start -- login; holdfast trusts nobody.",
  );
  expect(asTyped("Use holdfast login.", { npm_command: "exec" })).toBe("Use npx holdfast login.");
  expect(asTyped("Use holdfast login.", { npm_command: "run-script" })).toBe("Use holdfast login.");
});
