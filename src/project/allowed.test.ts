import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Allowed } from "./allowed.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-allowed-"));
});
afterEach(() => rmSync(home, { recursive: true }));

const open = (folder = "a") => new Allowed(join(home, folder), { HOME: home, XDG_STATE_HOME: home });

it.each(["git push", "", "write_file(../x)"])(
  "refuses %j, which is no rule, and keeps what there is",
  async (rule) => {
    await open().add(["write_file"]);
    await expect(open().add([rule])).rejects.toThrow("is no rule");
    expect(await open().rules()).toEqual(["write_file"]);
  },
);

it("the allowed rules skip an invalid entry and keep the others", async () => {
  const allowed = open();
  await allowed.add(["write_file"]);
  const folders = { [join(home, "a")]: ["git push", 1, "execute(ls *)"], [join(home, "b")]: ["edit_file"] };
  writeFileSync(allowed.file, JSON.stringify({ version: 1, folders }));
  expect(await allowed.rules()).toEqual(["execute(ls *)"]);
  await allowed.add(["delete_file"]);
  expect(await allowed.rules()).toEqual(["execute(ls *)", "delete_file"]);
  expect(await open("b").rules()).toEqual(["edit_file"]);
});

it("says so where the file cannot be read, and does not overwrite it", async () => {
  const allowed = open();
  await allowed.add(["write_file"]);
  writeFileSync(allowed.file, "{ half");
  await expect(allowed.rules()).rejects.toThrow(`${allowed.file} cannot be read: fix it`);
  await expect(allowed.add(["edit_file"])).rejects.toThrow("cannot be read");
  expect(readFileSync(allowed.file, "utf8")).toBe("{ half");
});

it("the allowed rules keep all entries that are added at the same time", async () => {
  const folders = Array.from({ length: 10 }, (_, at) => `f${at}`);
  await Promise.all(folders.map((folder) => open(folder).add(["write_file"])));
  for (const folder of folders) expect(await open(folder).rules()).toEqual(["write_file"]);
});
