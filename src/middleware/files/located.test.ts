import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { stateFiles } from "../../files/backends/state.ts";
import { compositeBackend, diskBackend, shellBackend, withPermissions } from "../../files/index.ts";
import { operate } from "./operate.ts";
import type { FileToolName } from "./schemas.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-located-")));
afterAll(() => rmSync(base, { recursive: true }));
const root = join(base, "project");
const link = join(base, "link");

beforeEach(() => {
  rmSync(base, { recursive: true });
  mkdirSync(join(root, "src"), { recursive: true });
  writeFileSync(join(root, "src/a.ts"), "let a = 1;\n");
  symlinkSync(root, link);
});

async function say(name: FileToolName, args: object, backend = diskBackend(root)): Promise<string> {
  const answer = await operate(backend, { name, args });
  return answer.text;
}

describe.each([
  ["the directory's own path", () => root, () => diskBackend(root)],
  ["its path where a link was given", () => root, () => shellBackend(link)],
  ["the path of a link to it", () => link, () => diskBackend(root)],
])("%s before a path", (_name, front, backend) => {
  const tell = (name: FileToolName, args: object): Promise<string> => say(name, args, backend());

  it("means the file in it, for every file tool", async () => {
    expect(await tell("ls", { path: front() })).toBe("/src/");
    expect(await tell("ls", { path: `${front()}/src/` })).toBe("/src/a.ts");
    expect(await tell("read_file", { file_path: `${front()}/src/a.ts` })).toContain("let a = 1;");
    expect(await tell("write_file", { file_path: `${front()}/new/b.ts`, content: "b" })).toBe(
      "Created /new/b.ts.",
    );
    const edit = { file_path: `${front()}/new/b.ts`, old_string: "b", new_string: "c" };
    expect(await tell("edit_file", edit)).toBe("Edited /new/b.ts:\n     1\tc");
    expect(readFileSync(join(root, "new/b.ts"), "utf8")).toBe("c");
    expect(await tell("delete_file", { file_path: `${front()}/new/b.ts` })).toBe("Deleted /new/b.ts.");
    expect(readdirSync(root)).toEqual(["new", "src"]);
  });

  it("means the files in it in globs and searches", async () => {
    for (const pattern of ["/**/*.ts", "/src/*.ts", "/src/a.ts", "/src/", "/"]) {
      expect(await tell("glob", { pattern: `${front()}${pattern}` })).toBe("/src/a.ts");
    }
    expect(await tell("glob", { pattern: "*.ts", path: `${front()}/src` })).toBe("/src/a.ts");
    const query = { pattern: "let", output: "files" };
    expect(await tell("grep", { ...query, path: front() })).toBe("/src/a.ts");
    expect(await tell("grep", { ...query, path: `${front()}/src/a.ts` })).toBe("/src/a.ts");
    expect(await tell("grep", { ...query, glob: `${front()}/src/**` })).toBe("/src/a.ts");
    expect(await tell("grep", { pattern: `${front()}/src` })).toBe("No matches.");
  });
});

describe("a path like an address on the host", () => {
  it("resolves to the nested file of that name when one exists", async () => {
    mkdirSync(join(root, root), { recursive: true });
    writeFileSync(join(root, root, "inner.ts"), "inner");
    expect(await say("ls", { path: root })).toBe(`${root}/inner.ts`);
    expect(await say("read_file", { file_path: `${root}/inner.ts` })).toContain("inner");
    expect(await say("glob", { pattern: `${root}/**` })).toBe(`${root}/inner.ts`);
    await say("write_file", { file_path: `${root}/beside.ts`, content: "x" });
    expect(readdirSync(join(root, root))).toEqual(["beside.ts", "inner.ts"]);
    expect(await say("read_file", { file_path: `${root}/src/a.ts` })).toContain("let a = 1;");
  });

  it("stays a path of its own when only its start matches or it leads elsewhere", async () => {
    expect(await say("write_file", { file_path: `${root}-2/x.ts`, content: "x" })).toBe(
      `Created ${root}-2/x.ts.`,
    );
    expect(await say("read_file", { file_path: `${base}/other.ts` })).toContain("There is no file");
    symlinkSync(base, join(root, "out"));
    expect(await say("read_file", { file_path: `${root}/out/project/src/a.ts` })).toContain("a link");
    const slash = diskBackend("/");
    expect(await say("read_file", { file_path: `${root}/src/a.ts` }, slash)).toContain("let a = 1;");
  });

  it("does not lead around permissions or mounts", async () => {
    const state = stateFiles({ "/kept.md": "kept" });
    const backend = withPermissions(compositeBackend(diskBackend(root), { "/.own/": state }), [
      { effect: "deny", operations: ["write", "delete"], paths: "/.git/**" },
    ]);
    const write = { file_path: `${link}/.git/config`, content: "x" };
    expect(await say("write_file", write, backend)).toContain('Writing "/.git/config" is not allowed');
    expect(await say("read_file", { file_path: `${root}/.own/kept.md` }, backend)).toContain("kept");
    expect(readdirSync(root)).toEqual(["src"]);
  });
});
