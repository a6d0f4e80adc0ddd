import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FROZEN_FILES } from "../index.ts";
import { FROZEN_NAMES } from "../shell/isolation/read-only-paths.ts";
import { HELD, OBEYED } from "./obeyed.ts";

it("has a reason for each entry, and none twice", () => {
  expect(OBEYED.filter(({ reason }) => reason.length < 10)).toEqual([]);
  const names = OBEYED.map(({ name }) => name.toLowerCase());
  expect(names).toEqual([...new Set(names)]);
});

it("is the list of commands and of file tools", () => {
  for (const { name, held } of OBEYED)
    expect(FROZEN_NAMES).toEqual(expect.arrayContaining([...(held ?? [name.replace(/\/$/, "")])]));
  expect(HELD).toEqual(expect.arrayContaining([".git/config", ".git/hooks", ".envrc", ".mcp.json"]));
  expect(FROZEN_FILES.paths).toEqual([
    "**/.git",
    "**/.mcp.json",
    "**/.holdfast",
    "**/.agents/skills",
    "**/.agents/agents",
    "**/.claude/skills",
    "**/.claude/agents",
  ]);
});

/** Lists of something else: a home folder as commands see it, what was left there, what surveys pass over, project files. */
const OTHERS = [
  "files/shell/isolation/home.ts",
  "files/shell/isolation/read-only-paths.ts",
  "models/offline/survey/listing.ts",
  "project/places.ts",
];

it("is the only list: no other file of the source names three of its entries", () => {
  const src = join(import.meta.dirname, "../..");
  const names = OBEYED.map(({ name }) => name.replace(/\/$/, "")).concat(HELD);
  const isList = (file: string): boolean => {
    const text = readFileSync(join(src, file), "utf8");
    return names.filter((name) => text.includes(`"${name}"`) || text.includes(`"${name}/"`)).length > 2;
  };
  const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter(
    (file) => /(?<!\.test)\.ts$/.test(file) && !OTHERS.includes(file) && isList(file),
  );
  expect(files).toEqual(["files/paths/obeyed.ts"]);
});
