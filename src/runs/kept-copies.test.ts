import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copiesOf, KeptCopies } from "./kept-copies.ts";

let home: string;
let dir: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-copies-")));
  dir = join(home, "work");
  mkdirSync(dir);
});
afterEach(() => rmSync(home, { recursive: true }));

const open = () => new KeptCopies({ folder: join(home, "copies"), thread: "t", dir });

it("puts back what a turn wrote, by another process, too", () => {
  writeFileSync(join(dir, "a.txt"), "before");
  const copies = open();
  copies.begin("1");
  for (const path of ["/a.txt", "/sub/new.txt"]) {
    copies.beforeCall("write_file", { file_path: path });
    mkdirSync(join(dir, "sub"), { recursive: true });
    writeFileSync(join(dir, path), "after");
    copies.afterCall("write_file", { file_path: path });
  }
  expect(open().restore("1")).toEqual({ restored: ["/a.txt", "/sub/new.txt"], changed: [] });
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("before");
  expect(existsSync(join(dir, "sub/new.txt"))).toBe(false);
});

it("puts back a folder that was deleted", () => {
  mkdirSync(join(dir, "sub/deep"), { recursive: true });
  writeFileSync(join(dir, "sub/deep/a.txt"), "a");
  writeFileSync(join(dir, "sub/b.txt"), "b");
  const copies = open();
  copies.begin("1");
  copies.beforeCall("delete_file", { file_path: "/sub" });
  rmSync(join(dir, "sub"), { recursive: true });
  copies.afterCall("delete_file", { file_path: "/sub" });
  expect(open().restore("1").restored.toSorted()).toEqual(["/sub/b.txt", "/sub/deep/a.txt"]);
  expect(readFileSync(join(dir, "sub/deep/a.txt"), "utf8")).toBe("a");
});

it("leaves what somebody else changed between two calls, and what a call did not finish", () => {
  for (const name of ["a", "b", "c"]) writeFileSync(join(dir, name), "before");
  const copies = open();
  copies.begin("1");
  const call = (path: string, content: string): void => {
    copies.beforeCall("edit_file", { file_path: path });
    writeFileSync(join(dir, path), content);
    copies.afterCall("edit_file", { file_path: path });
  };
  call("/a", "agent");
  writeFileSync(join(dir, "a"), "agent and person");
  call("/a", "agent and person and agent");
  copies.beforeCall("edit_file", { file_path: "/b" });
  writeFileSync(join(dir, "b"), "whose?");
  copies.beforeCall("edit_file", { file_path: "/c" });
  expect(open().restore("1")).toEqual({ restored: [], changed: ["/a", "/b"] });
  expect(readFileSync(join(dir, "a"), "utf8")).toBe("agent and person and agent");
  expect(readFileSync(join(dir, "b"), "utf8")).toBe("whose?");
});

it("are in a folder of their own, whatever the thread is called", () => {
  const names = ["", ".", "..", "../..", "a/b", "t", "T"];
  const folders = names.map((thread) => copiesOf("/state/copies", thread));
  expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(names.length);
  for (const folder of folders) expect(dirname(folder)).toBe("/state/copies");
});

it("does not follow a link out of the directory", () => {
  writeFileSync(join(home, "secret"), "secret");
  symlinkSync(home, join(dir, "out"));
  const copies = open();
  copies.begin("1");
  copies.beforeCall("write_file", { file_path: "/out/secret" });
  expect(copies.restore("1")).toEqual({ restored: [], changed: [] });
});
