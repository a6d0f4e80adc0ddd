import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { bashSandbox } from "../../test/helpers/models/bash-sandbox.ts";
import { callTool, ScriptedModel } from "../testing/index.ts";
import {
  BaseSandbox,
  CompositeBackend,
  createDeepAgent,
  FilesystemBackend,
  LocalShellBackend,
  StoreBackend,
  type BackendProtocol,
} from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-backends-"));
  mkdirSync(join(folder, "s"));
  writeFileSync(join(folder, "s", "a.txt"), "a");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const replies = (messages: BaseMessage[]): string[] =>
  messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));

describe("a glob below a relative folder", () => {
  it("finds files of LocalShellBackend, with whole paths in virtual mode", async () => {
    const shell = new LocalShellBackend({ rootDir: folder });
    expect((await shell.glob("*.txt", "s")).files).toMatchObject([{ path: "a.txt" }]);
    expect((await shell.glob("*.txt", "/s///")).files).toMatchObject([{ path: "a.txt" }]);
    const rooted = new LocalShellBackend({ rootDir: folder, virtualMode: true });
    expect((await rooted.glob("*.txt", "/s")).files).toMatchObject([{ path: "/s/a.txt" }]);
  });

  it("finds files of a sandbox", async () => {
    const bash = bashSandbox();
    class Sandbox extends BaseSandbox {
      readonly id = "bash";
      execute = (async (command) => bash.execute(command)) as BaseSandbox["execute"];
      override uploadFiles = (async (files) => bash.uploadFiles(files)) as BaseSandbox["uploadFiles"];
      override downloadFiles = (async (paths) => bash.downloadFiles(paths)) as BaseSandbox["downloadFiles"];
    }
    const found = await new Sandbox().glob("*.txt", join(folder, "s").slice(1));
    expect(found.files).toMatchObject([{ path: "a.txt" }]);
  });
});

const PNG = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 255]);

describe("a binary file in base64", () => {
  it("is written as bytes by its name, and other texts stay texts", async () => {
    const text = PNG.toString("base64");
    const disk = new FilesystemBackend({ rootDir: folder });
    expect(await disk.write("/i.png", text)).toEqual({ path: "/i.png", filesUpdate: null });
    expect(readFileSync(join(folder, "i.png"))).toEqual(PNG);
    await disk.write("/i.txt", text);
    await disk.write("/no.png", "not an image");
    expect(readFileSync(join(folder, "i.txt"), "utf8")).toBe(text);
    expect(readFileSync(join(folder, "no.png"), "utf8")).toBe("not an image");
    const store = new StoreBackend({ store: new InMemoryStore() });
    await store.write("/i.png", text);
    expect((await store.readRaw("/i.png")).data!.content).toEqual(new Uint8Array(PNG));
    // Bytes that could be a text are bytes, too.
    await store.write("/abc.png", Buffer.from("abc").toString("base64"));
    expect((await store.readRaw("/abc.png")).data!.content).toEqual(new Uint8Array(Buffer.from("abc")));
  });

  it("is written as bytes by the agent's write_file, on disk and in the state", async () => {
    const write = callTool("write_file", { file_path: "/i.png", content: PNG.toString("base64") });
    const options = { model: new ScriptedModel([write, "Done."]), plan: false } as const;
    await createDeepAgent({ ...options, backend: new FilesystemBackend({ rootDir: folder }) }).invoke(
      say("go"),
    );
    expect(readFileSync(join(folder, "i.png"))).toEqual(PNG);
    const inState = createDeepAgent({ model: new ScriptedModel([write, "Done."]), plan: false });
    const { files } = await inState.invoke(say("go"));
    expect(files["/i.png"]).toEqual({ content: new Uint8Array(PNG), mimeType: "image/png" });
  });
});

describe("a command that reaches its time limit", () => {
  it("says so, with the exit code of the program timeout", async () => {
    const shell = new LocalShellBackend({ rootDir: folder, timeout: 0.2 });
    expect(await shell.execute("echo begun; sleep 60")).toEqual({
      output: "Error: Command timed out after 0.2 seconds.\nbegun\n",
      exitCode: 124,
      truncated: false,
    });
  });
});

/** A backend with files in a map, which counts the calls of each method. */
function countedBackend(files: Map<string, string>, version: 1 | 2) {
  const calls: Record<string, number> = {};
  const counted = <Args extends unknown[], Result>(name: string, act: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      calls[name] = (calls[name] ?? 0) + 1;
      return act(...args);
    };
  };
  const infos = () => [...files.keys()].map((path) => ({ path }));
  const grep = (pattern: string) =>
    [...files].flatMap(([path, text]) => (text.includes(pattern) ? [{ path, line: 1, text }] : []));
  const backend = {
    write: counted("write", (path: string, content: string) => (files.set(path, content), { path })),
    edit: counted("edit", (path: string, before: string, after: string) => {
      files.set(path, files.get(path)!.replace(before, after));
      return { path, occurrences: 1 };
    }),
  };
  const data = (path: string) => ({ content: files.get(path)! });
  const second: BackendProtocol = {
    ...backend,
    ls: counted("ls", () => ({ files: infos() })),
    read: counted("read", data),
    readRaw: counted("readRaw", (path: string) => ({ data: data(path) })),
    grep: counted("grep", (pattern: string) => ({ matches: grep(pattern) })),
    glob: counted("glob", () => ({ files: infos() })),
  };
  const first = {
    ...backend,
    lsInfo: counted("ls", infos),
    read: counted("read", (path: string) => files.get(path)!),
    readRaw: counted("readRaw", data),
    grepRaw: counted("grep", grep),
    globInfo: counted("glob", infos),
  };
  return { calls, backend: version === 1 ? first : second };
}

describe.each([1, 2] as const)("a program's own backend, version %i", (version) => {
  it("gets the agent's searches and edits", async () => {
    const files = new Map(Array.from({ length: 50 }, (_, n) => [`/n${n}.md`, `number ${n}`]));
    files.set("/x.md", "a needle\n");
    const { calls, backend } = countedBackend(files, version);
    const model = new ScriptedModel([
      callTool("grep", { pattern: "needle" }),
      callTool("glob", { pattern: "*.md" }),
      callTool("edit_file", { file_path: "/x.md", old_string: "needle", new_string: "pin" }),
      "Done.",
    ]);
    const agent = createDeepAgent({ model, backend, plan: false });
    const { messages } = await agent.invoke(say("go"));
    const [found, all] = replies(messages);
    expect(found).toContain("1:a needle");
    expect(all).toContain("/n49.md");
    expect(files.get("/x.md")).toBe("a pin\n");
    expect(calls).toMatchObject({ grep: 1, glob: 1, edit: 1 });
    expect(calls["write"]).toBeUndefined();
    // Not one for each file.
    expect(calls["readRaw"]).toBeLessThan(10);
  });
});

it("an edit without old text fills an empty file, and no other", async () => {
  const disk = new FilesystemBackend({ rootDir: folder });
  await disk.write("/empty.md", "");
  expect(await disk.edit("/empty.md", "", "one")).toMatchObject({ path: "/empty.md", occurrences: 1 });
  expect(readFileSync(join(folder, "empty.md"), "utf8")).toBe("one");
  expect((await disk.edit("/empty.md", "", "two")).error).toContain("not found");
});

it("a composite backend runs commands in its main backend", async () => {
  const shell = new LocalShellBackend({ rootDir: folder });
  const composite = new CompositeBackend(shell, {});
  expect((await composite.execute("echo one")).output).toBe("one\n");
  expect(composite.id).toBe(shell.id);
  const files = new CompositeBackend(new FilesystemBackend({ rootDir: folder }), {});
  expect(files.id).toBe("");
  await expect(files.execute("echo one")).rejects.toThrow("runs no commands");
});
