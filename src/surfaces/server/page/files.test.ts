import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  begin,
  folder,
  send,
  setStage,
  settled,
  start,
  stop,
} from "../../../../test/helpers/page/threads-server.ts";
import { callTool } from "../../../testing/index.ts";

setStage();

const job = (description: string) => callTool("task", { description, subagent_type: "general-purpose" });
const read = (file_path: string) => callTool("read_file", { file_path });
const edit = (file_path: string, old_string: string, new_string: string) =>
  callTool("edit_file", { file_path, old_string, new_string });
const write = (file_path: string, content: string) => callTool("write_file", { file_path, content });

async function filesOf(thread: string): Promise<unknown> {
  return (await send("GET", `/threads/${thread}/files`)).body;
}

async function fileOf(thread: string, path: string): Promise<unknown> {
  return (await send("GET", `/threads/${thread}/file?path=${path}`)).body;
}

it("a file changed by agent and sub-agent has one net change, also on another server", async () => {
  writeFileSync(join(folder, "b.md"), "zero\nsame\n");
  await start(
    [
      [write("/a.md", "one\n"), read("/b.md")],
      edit("/b.md", "zero", "one"),
      job("Go on"),
      [read("/b.md"), read("/a.md")],
      [edit("/b.md", "one", "two"), edit("/a.md", "one", "two"), write("/c.md", "new\n")],
      "Two.",
      read("/b.md"),
      edit("/b.md", "two", "three"),
      "Done.",
    ],
    { dir: folder },
  );
  const thread = await begin("Count");
  await settled(thread);
  const check = async (): Promise<void> => {
    expect(await filesOf(thread)).toEqual({
      files: [
        { path: "/a.md", added: 1, removed: 0, kind: "added" },
        { path: "/b.md", added: 1, removed: 1, kind: "changed" },
        { path: "/c.md", added: 1, removed: 0, kind: "added" },
      ],
    });
    expect(await fileOf(thread, "/b.md")).toEqual({
      path: "/b.md",
      before: "zero\nsame\n",
      after: "three\nsame\n",
      isKnown: true,
    });
  };
  await check();
  await stop();
  await start([], { dir: folder });
  await check();
});

it("a sub-agent's changes before and after a question are known on another server", async () => {
  writeFileSync(join(folder, "b.md"), "zero\n");
  const settings = { dir: folder, ask: ["edit_file"] };
  await start(
    [job("Change it"), [write("/a.md", "one\n"), read("/b.md")], edit("/b.md", "zero", "one")],
    settings,
  );
  const thread = await begin("Ask");
  const { questions } = await settled(thread);
  const added = { path: "/a.md", added: 1, removed: 0, kind: "added" };
  expect(await filesOf(thread)).toEqual({ files: [added] });
  await stop();
  await start(["Changed.", "Done."], settings);
  await send("POST", `/threads/${thread}/answers`, { answers: { [questions[0]!.id]: { type: "approve" } } });
  expect((await settled(thread)).thread.status).toBe("done");
  expect(await filesOf(thread)).toEqual({
    files: [added, { path: "/b.md", added: 1, removed: 1, kind: "changed" }],
  });
  expect(await fileOf(thread, "/b.md")).toMatchObject({ before: "zero\n", after: "one\n" });
});

it("the page does not read a file that has become a link or lies in a linked folder", async () => {
  const dir = join(folder, "work");
  mkdirSync(dir);
  writeFileSync(join(folder, "a.md"), "secret\n");
  await start([[write("/a.md", "one\n"), write("/sub/a.md", "one\n")], "Done."], { dir });
  const thread = await begin("Write");
  await settled(thread);
  expect(await fileOf(thread, "/a.md")).toMatchObject({ after: "one\n" });
  rmSync(join(dir, "a.md"));
  symlinkSync(join(folder, "a.md"), join(dir, "a.md"));
  rmSync(join(dir, "sub"), { recursive: true });
  symlinkSync(folder, join(dir, "sub"));
  for (const path of ["/a.md", "/sub/a.md"]) {
    const { status, body } = await send("GET", `/threads/${thread}/file?path=${path}`);
    expect([path, status]).toEqual([path, 403]);
    expect(JSON.stringify(body)).toMatch(/link/);
    expect(JSON.stringify(body)).not.toMatch(/secret|holdfast-page/);
  }
  expect(JSON.stringify(await filesOf(thread))).not.toContain("secret");
  expect((await send("GET", `/threads/${thread}/file?path=../a.md`)).status).toBe(404);
});

it("the old content of an overwritten file is known, also on another server", async () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  writeFileSync(join(folder, "a.md"), "old\nsame");
  writeFileSync(join(folder, "b.md"), `${lines.join("\r\n")}\r\n`);
  writeFileSync(join(folder, "c.md"), "zero\n");
  writeFileSync(join(folder, "part.md"), lines.join("\n"));
  const page = (file_path: string, offset: number, limit: number) =>
    callTool("read_file", { file_path, offset, limit });
  await start(
    [
      [read("/a.md"), page("/b.md", 20, 20), page("/b.md", 0, 20), page("/part.md", 0, 3)],
      [write("/a.md", "new\nsame"), write("/b.md", "short\n"), write("/part.md", "short\n")],
      write("/a.md", "newer\nsame"),
      job("Go on"),
      read("/c.md"),
      [write("/c.md", "one\n"), edit("/c.md", "one", "two")],
      "Two.",
      "Done.",
    ],
    { dir: folder },
  );
  const thread = await begin("Write over");
  expect((await settled(thread)).thread.status).toBe("done");
  const check = async (): Promise<void> => {
    expect(await filesOf(thread)).toEqual({
      files: [
        { path: "/a.md", added: 1, removed: 1, kind: "changed" },
        { path: "/b.md", added: 1, removed: 30, kind: "changed" },
        { path: "/c.md", added: 1, removed: 1, kind: "changed" },
        { path: "/part.md", added: 1, removed: 0, kind: "changed" },
      ],
    });
    const known = { isKnown: true };
    expect(await fileOf(thread, "/a.md")).toMatchObject({ ...known, before: "old\nsame" });
    expect(await fileOf(thread, "/c.md")).toMatchObject({ ...known, before: "zero\n", after: "two\n" });
    // Of this one the conversation has three lines.
    expect(await fileOf(thread, "/part.md")).toMatchObject({ before: null, isKnown: false });
  };
  await check();
  await stop();
  await start([], { dir: folder });
  await check();
});

it("the page reads a file that the thread asks to write, by any name, but no other", async () => {
  const dir = join(folder, "work");
  mkdirSync(dir);
  writeFileSync(join(dir, "a.md"), "old\n");
  writeFileSync(join(dir, "b.md"), "private\n");
  writeFileSync(join(folder, "outside.md"), "outside\n");
  symlinkSync(join(folder, "outside.md"), join(dir, "link.md"));
  await start(
    [
      read("/a.md"),
      [
        write("a.md", "new\n"),
        write("/new.md", "new\n"),
        write("/link.md", "new\n"),
        write("../outside.md", "new\n"),
      ],
    ],
    { dir, ask: ["write_file"] },
  );
  const thread = await begin("Ask");
  expect((await settled(thread)).questions.length).toBeGreaterThan(2);
  const old = { path: "/a.md", before: "old\n", after: "old\n", isKnown: true };
  for (const name of ["a.md", "/a.md", join(dir, "a.md")]) expect(await fileOf(thread, name)).toEqual(old);
  expect(await fileOf(thread, "/new.md")).toEqual({
    path: "/new.md",
    before: null,
    after: null,
    isKnown: true,
  });
  for (const name of ["/b.md", "b.md", "/link.md", "../outside.md", join(folder, "outside.md"), ""]) {
    const { status, body } = await send("GET", `/threads/${thread}/file?path=${encodeURIComponent(name)}`);
    expect(JSON.stringify(body), name).not.toMatch(/outside\\n|private/);
    expect([name, status]).toEqual([name, 404]);
  }
});
