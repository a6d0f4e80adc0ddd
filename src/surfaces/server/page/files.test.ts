import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { begin, folder, send, setStage, settled, start, stop } from "../../../../test/page-stage.ts";
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

it("a file that an agent and its sub-agent change in turn has one net change, also when another server reads it", async () => {
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

it("what a sub-agent changed before and after a question is known, when another server has gone on with it", async () => {
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

it("a file that has become a link, or is behind one, is not read: what it leads to is not the thread's", async () => {
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
