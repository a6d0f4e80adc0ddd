import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { distrustPrograms, hostPath, hostProgram } from "./index.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-programs-")));
afterAll(() => rmSync(base, { recursive: true }));

/** A folder with an executable program. */
function folderWith(path: string, name = "tool"): string {
  const folder = join(base, path);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), "#!/bin/sh\n", { mode: 0o755 });
  return folder;
}

function linkTo(target: string, path: string): string {
  mkdirSync(join(base, path, ".."), { recursive: true });
  symlinkSync(target, join(base, path));
  return join(base, path);
}

const found = (...folders: string[]): string | undefined =>
  hostProgram("tool", { PATH: folders.join(delimiter) });

const project = folderWith("project/bin");
const system = folderWith("system/bin");
distrustPrograms(join(base, "project"));

it("finds the first program of the system on PATH", () => {
  expect(found(join(base, "missing"), system, folderWith("second"))).toBe(join(system, "tool"));
  chmodSync(join(folderWith("plain"), "tool"), 0o644);
  mkdirSync(join(base, "folder/tool"), { recursive: true });
  expect(found(join(base, "plain"), join(base, "folder"))).toBeUndefined();
  expect(hostProgram("tool", {})).toBeUndefined();
});

it.each<[what: string, folder: string]>([
  ["a folder that an agent writes to", project],
  ["a link to such a folder", linkTo(project, "links/bin")],
  ["a folder with a link to a program in such a folder", join(linkTo(join(project, "tool"), "a/tool"), "..")],
  [
    "a folder with a link to a link in such a folder",
    join(linkTo(linkTo(join(system, "tool"), "project/link"), "b/tool"), ".."),
  ],
  ["packages of a project", folderWith("other/node_modules/.bin")],
  ["a relative folder", "node_modules/.bin"],
  ["the working folder", ""],
  ["a folder in the working folder", process.cwd()],
])("skips %s", (_what, folder) => {
  expect(found(folder)).toBeUndefined();
  expect(found(folder, system)).toBe(join(system, "tool"));
});

it("gives other programs a PATH without such folders", () => {
  const folders = [
    project,
    join(base, "links/bin"),
    join(base, "other/node_modules/.bin"),
    "bin",
    "",
    system,
  ];
  expect(hostPath({ PATH: folders.join(delimiter) })).toBe(system);
});

it("still finds programs if an agent works in the root of the disk", () => {
  distrustPrograms("/");
  expect(found(system)).toBe(join(system, "tool"));
});
