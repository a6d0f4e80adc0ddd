import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copiesOf, FileCopies } from "./file-copies.ts";

let home: string;
let dir: string;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-copies-")));
  dir = join(home, "work");
  mkdirSync(dir);
});
afterEach(() => rmSync(home, { recursive: true }));

const open = () => new FileCopies({ folder: join(home, "copies"), thread: "t", dir });

it("FileCopies restores the files that a turn wrote, also from another process", () => {
  writeFileSync(join(dir, "a.txt"), "before");
  const copies = open();
  copies.begin("1");
  for (const path of ["/a.txt", "/sub/new.txt"]) {
    copies.beforeCall("write_file", { file_path: path });
    mkdirSync(join(dir, "sub"), { recursive: true });
    writeFileSync(join(dir, path), "after");
    copies.afterCall("write_file", { file_path: path });
  }
  expect(open().restore("1")).toEqual({ restored: ["/a.txt", "/sub/new.txt"], changed: [], missed: [] });
  expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("before");
  expect(existsSync(join(dir, "sub/new.txt"))).toBe(false);
});

it("FileCopies restores a deleted folder", () => {
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

it("FileCopies leaves changes by other writers, and those of an unfinished call", () => {
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
  expect(open().restore("1")).toEqual({ restored: [], changed: ["/a", "/b"], missed: [] });
  expect(readFileSync(join(dir, "a"), "utf8")).toBe("agent and person and agent");
  expect(readFileSync(join(dir, "b"), "utf8")).toBe("whose?");
});

it("each thread has its own folder of copies, for any thread name", () => {
  const names = ["", ".", "..", "../..", "a/b", "t", "T"];
  const folders = names.map((thread) => copiesOf("/state/copies", thread));
  expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(names.length);
  for (const folder of folders) expect(dirname(folder)).toBe("/state/copies");
});

it("FileCopies does not follow a link out of the directory", () => {
  writeFileSync(join(home, "secret"), "secret");
  symlinkSync(home, join(dir, "out"));
  const copies = open();
  copies.begin("1");
  copies.beforeCall("write_file", { file_path: "/out/secret" });
  expect(copies.restore("1")).toEqual({ restored: [], changed: [], missed: [] });
});

/** A call that deletes, as the disk does. */
function deleted(copies: FileCopies, path: string): void {
  copies.beforeCall("delete_file", { file_path: path });
  rmSync(join(dir, path), { recursive: true });
  copies.afterCall("delete_file", { file_path: path });
}

it("FileCopies names deleted files it could not keep: too large, too many, or links", () => {
  mkdirSync(join(dir, "many"));
  for (let at = 0; at < 1005; at += 1) writeFileSync(join(dir, "many", `${at}`), "x");
  mkdirSync(join(dir, "links"));
  symlinkSync("a", join(dir, "links/link"));
  for (const name of ["large", "refused"]) writeFileSync(join(dir, name), Buffer.alloc(10_000_001));
  const copies = open();
  copies.begin("1");
  for (const path of ["/many", "/links", "/large"]) deleted(copies, path);
  copies.beforeCall("delete_file", { file_path: "/refused" });
  copies.afterCall("delete_file", { file_path: "/refused" });
  const { restored, changed, missed } = open().restore("1");
  expect([restored.length, changed, missed]).toEqual([1000, [], ["/many/", "/links/link", "/large"]]);
});

it("FileCopies does not treat a file that the turn made as an earlier file", () => {
  writeFileSync(join(dir, "large"), Buffer.alloc(10_000_001));
  const copies = open();
  copies.begin("1");
  for (const content of ["small", "smaller"]) {
    copies.beforeCall("write_file", { file_path: "/large" });
    writeFileSync(join(dir, "large"), content);
    copies.afterCall("write_file", { file_path: "/large" });
  }
  deleted(copies, "/large");
  expect(open().restore("1")).toEqual({ restored: [], changed: [], missed: ["/large"] });
});

it("FileCopies keeps files of a turn up to a limit, and continues with small files", () => {
  mkdirSync(join(dir, "build"));
  const content = Buffer.alloc(9_000_000, 97);
  for (let at = 0; at < 7; at += 1) {
    content.writeUInt8(at);
    writeFileSync(join(dir, "build", `${at}`), content);
  }
  const copies = open();
  copies.begin("1");
  deleted(copies, "/build");
  writeFileSync(join(dir, "a.txt"), "a");
  deleted(copies, "/a.txt");
  const { restored, missed } = open().restore("1");
  expect([restored.length, missed.length]).toEqual([6, 2]);
  expect(restored).toContain("/a.txt");
});

it("FileCopies restores an executable file as executable", () => {
  writeFileSync(join(dir, "run.sh"), "#!/bin/sh\n");
  chmodSync(join(dir, "run.sh"), 0o755);
  const copies = open();
  copies.begin("1");
  deleted(copies, "/run.sh");
  expect(open().restore("1").restored).toEqual(["/run.sh"]);
  expect(statSync(join(dir, "run.sh")).mode & 0o777).toBe(0o755);
});

it("FileCopies keeps the file that a host address means, also through a link", () => {
  symlinkSync(dir, join(home, "link"));
  for (const name of ["a", "b"]) writeFileSync(join(dir, name), "before");
  const copies = new FileCopies({ folder: join(home, "copies"), thread: "t", dir: join(home, "link") });
  copies.begin("1");
  for (const address of [join(home, "link/a"), join(dir, "b")]) {
    copies.beforeCall("write_file", { file_path: address });
    writeFileSync(address, "after");
    copies.afterCall("write_file", { file_path: address });
  }
  expect(open().restore("1").restored).toEqual(["/a", "/b"]);
  expect(["a", "b"].map((name) => readFileSync(join(dir, name), "utf8"))).toEqual(["before", "before"]);
});

it("FileCopies replaces no copy with a partial one, and restores only whole copies", () => {
  writeFileSync(join(dir, "a"), "before");
  const copies = open();
  copies.begin("1");
  deleted(copies, "/a");
  const [turn = ""] = readdirSync(copiesOf(join(home, "copies"), "t"));
  const folder = join(copiesOf(join(home, "copies"), "t"), turn);
  // As a kill amid the next write leaves it.
  writeFileSync(join(folder, "index.json.draft"), "{");
  const copy = readdirSync(folder).find((name) => !name.startsWith("index")) ?? "";
  writeFileSync(join(folder, copy), "bef");
  expect(open().restore("1")).toEqual({ restored: [], changed: [], missed: ["/a"] });
  writeFileSync(join(folder, copy), "before");
  expect(open().restore("1").restored).toEqual(["/a"]);
  writeFileSync(join(folder, "index.json"), "{");
  const again = open();
  again.begin("1");
  deleted(again, "/a");
  expect(open().restore("1")).toEqual({ restored: [], changed: [], missed: ["/"] });
});

it("FileCopies does not throw when it can keep nothing, and says so once", () => {
  writeFileSync(join(home, "copies"), "a file");
  writeFileSync(join(dir, "a"), "before");
  const failures: Error[] = [];
  const copies = new FileCopies({
    folder: join(home, "copies"),
    thread: "t",
    dir,
    onFailure: (error) => failures.push(error),
  });
  copies.begin("1");
  deleted(copies, "/a");
  expect(failures).toHaveLength(1);
});
