import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { createAgent, todoListMiddleware, type AnyAgentMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { bashSandbox } from "../../test/helpers/models/bash-sandbox.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import {
  BaseSandbox,
  CompositeBackend,
  createDeepAgent,
  createMemoryMiddleware,
  createPatchToolCallsMiddleware,
  FilesystemBackend,
  LocalShellBackend,
  StateBackend,
  StoreBackend,
  type BackendProtocol,
  type CreateDeepAgentParams,
  type WriteResult,
} from "./index.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-protocol-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const write = (file_path: string, content = "x") => callTool("write_file", { file_path, content });
const read = (file_path: string) => callTool("read_file", { file_path });
const replies = (messages: BaseMessage[]): string[] =>
  messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));

/** A sandbox of the host. */
class HostSandbox extends BaseSandbox {
  readonly #bash = bashSandbox();
  readonly id = this.#bash.id;
  execute = (async (command) => this.#bash.execute(command)) as BaseSandbox["execute"];
  override uploadFiles = (async (files) => this.#bash.uploadFiles(files)) as BaseSandbox["uploadFiles"];
  override downloadFiles = (async (paths) => this.#bash.downloadFiles(paths)) as BaseSandbox["downloadFiles"];
}

const SANDBOXES: [string, () => Promise<LocalShellBackend | HostSandbox>][] = [
  ["LocalShellBackend", () => LocalShellBackend.create({ rootDir: folder })],
  ["BaseSandbox", async () => new HostSandbox()],
];

/** The cases of DeepAgents' standard tests for sandboxes. */
describe.each(SANDBOXES)("%s", (_, create) => {
  let sandbox: LocalShellBackend | HostSandbox;
  beforeEach(async () => {
    sandbox = await create();
  });
  const lines = (count: number): string =>
    Array.from({ length: count }, (_each, index) => `Row ${index + 1}.`).join("\n");

  it("runs commands: output, errors, variables, exit codes", async () => {
    expect(sandbox.id).not.toBe("");
    expect(await sandbox.execute('echo "one" && echo two')).toEqual({
      output: "one\ntwo\n",
      exitCode: 0,
      truncated: false,
    });
    expect(await sandbox.execute("exit 42")).toMatchObject({ exitCode: 42 });
    expect((await sandbox.execute("echo wrong >&2")).output).toContain("wrong");
    expect((await sandbox.execute("export A=b && echo $A")).output.trim()).toBe("b");
    expect((await sandbox.execute("no_such_command_12345")).exitCode).not.toBe(0);
  });

  it("uploads and downloads several files, and says which is not there", async () => {
    const files = ["a.txt", "b/c.txt"].map((name): [string, Uint8Array] => [at(name), Buffer.from(name)]);
    expect(await sandbox.uploadFiles(files)).toEqual(files.map(([path]) => ({ path, error: null })));
    expect((await sandbox.execute(`cat ${at("a.txt")} ${at("b/c.txt")}`)).output).toBe("a.txtb/c.txt");
    const [first, missing] = await sandbox.downloadFiles([at("a.txt"), at("none.txt")]);
    expect(Buffer.from(first!.content!).toString()).toBe("a.txt");
    expect(missing).toEqual({ path: at("none.txt"), content: null, error: "file_not_found" });
  });

  it.each([
    ["plain text", "Hello!\nLine 2"],
    ["what a shell would expand", "$VAR `command` $(sub)\tTab \\"],
    ["nothing", ""],
    ["all languages", "\u{1F44B} \u4E16\u754C \u0645\u0631\u062D\u0628\u0627"],
    ["newlines alone", "\n\n\n\n\n"],
    ["a thousand lines", "Line\n".repeat(1000)],
  ])("writes %s into new folders and over an existing file", async (_name, content) => {
    const path = at("deep/er/dir with spaces/file name.txt");
    expect(await sandbox.write(path, "before")).toEqual({ path, filesUpdate: null });
    expect(await sandbox.write(path, content)).toEqual({ path, filesUpdate: null });
    expect((await sandbox.execute(`cat '${path}'`)).output).toBe(content);
    expect((await sandbox.read(path, 0, 5000)).content).toBe(content);
  });

  it("takes a path with doubled slashes for the same file", async () => {
    await sandbox.write(`${at("slashes")}//sub///file.txt`, "x");
    expect((await sandbox.execute(`cat ${at("slashes/sub/file.txt")}`)).output).toBe("x");
  });

  it("reads pages of lines", async () => {
    await sandbox.write(at("rows.txt"), lines(1000));
    const page = async (offset: number, limit?: number) =>
      ((await sandbox.read(at("rows.txt"), offset, limit)).content as string).split("\n");
    expect(await page(0, 5)).toEqual(["Row 1.", "Row 2.", "Row 3.", "Row 4.", "Row 5."]);
    expect(await page(10, 2)).toEqual(["Row 11.", "Row 12."]);
    expect((await page(0)).at(-1)).toBe("Row 500.");
    expect((await page(900, 100)).at(-1)).toBe("Row 1000.");
    for (const [offset, limit] of [
      [0, 0],
      [1000, 10],
      [5000, 10],
    ] as const) {
      expect(await page(offset, limit)).toEqual([""]);
    }
    await sandbox.write(at("long.txt"), `short\n${"x".repeat(3000)}\nend`);
    expect((await sandbox.read(at("long.txt"))).content).toContain("short\nxxx");
    expect((await sandbox.read(at("none.txt"))).error).toContain("not found");
  });

  it("edits one place, all places, or none", async () => {
    const path = at("fruit.txt");
    await sandbox.write(path, "apple\nbanana\napple\n$100 [a-z]*\n\u{1F44B}    end");
    expect((await sandbox.edit(path, "apple", "pear")).error).toContain("multiple");
    expect((await sandbox.edit(path, "cherry", "pear")).error).toContain("not found");
    expect((await sandbox.edit(at("none.txt"), "a", "b")).error).toContain("not found");
    expect((await sandbox.edit(path, "apple", "pear", true)).occurrences).toBe(2);
    for (const [before, after] of [
      ["pear\nbanana", "fig"],
      ["$100", "$200 $& $1"],
      ["[a-z]*", "[0-9]+"],
      ["\u{1F44B}", "\u{1F30D}"],
      ["    ", " "],
      ["fig", "fig"],
      [" end", ""],
    ] as const) {
      expect(await sandbox.edit(path, before, after)).toEqual({ path, occurrences: 1, filesUpdate: null });
    }
    expect(readFileSync(path, "utf8")).toBe("fig\npear\n$200 $& $1 [0-9]+\n\u{1F30D}");
  });

  it("lists files and folders by their whole paths", async () => {
    for (const name of [".hidden", "a b.txt", "file(1).txt", "\u6D4B\u8BD5.txt"]) {
      await sandbox.write(at(`list/${name}`), "x");
    }
    mkdirSync(at("list/sub dir"));
    for (const folderAt of [at("list"), `${at("list")}/`]) {
      const { files = [] } = await sandbox.ls(folderAt);
      expect(files.filter(({ is_dir }) => is_dir).map(({ path }) => path)).toEqual([at("list/sub dir/")]);
      expect(files.map(({ path }) => path)).toEqual(
        expect.arrayContaining([at("list/.hidden"), at("list/a b.txt"), at("list/file(1).txt")]),
      );
      expect(files).toHaveLength(5);
    }
    mkdirSync(at("empty"));
    expect(await sandbox.ls(at("empty"))).toEqual({ files: [] });
    expect(await sandbox.ls(at("does-not-exist"))).toEqual({ files: [] });
  });

  it("finds files and folders by patterns, by their paths from where it looks", async () => {
    for (const name of ["file1.txt", "file2.txt", "file10.txt", "x.py", ".hidden", "a/b/deep.txt"]) {
      await sandbox.write(at(`glob/${name}`), "x");
    }
    const found = async (pattern: string) => {
      const { files = [] } = await sandbox.glob(pattern, at("glob"));
      return files.map(({ path }) => path).toSorted();
    };
    expect(await found("*.txt")).toEqual(["file1.txt", "file10.txt", "file2.txt"]);
    expect(await found("file?.txt")).toEqual(["file1.txt", "file2.txt"]);
    expect(await found("file[1-2].txt")).toEqual(["file1.txt", "file2.txt"]);
    expect(await found(".*")).toEqual([".hidden"]);
    expect(await found("**/deep.txt")).toEqual(["a/b/deep.txt"]);
    expect(await found("**/*.txt")).toHaveLength(4);
    expect(await found("*.md")).toEqual([]);
    const { files = [] } = await sandbox.glob("*", at("glob"));
    expect(files.filter(({ is_dir }) => is_dir).map(({ path }) => path)).toEqual(["a"]);
  });

  it("searches for literal text, with its lines", async () => {
    await sandbox.write(at("grep/a.txt"), "Hello $100\nhello\n[a-z]* \u4E16\u754C\nHello");
    await sandbox.write(at("grep/sub/b.py"), "Hello");
    const found = async (pattern: string, glob?: string) => {
      const { matches = [] } = await sandbox.grep(pattern, at("grep"), glob);
      return matches.map(({ path, line }) => `${path.slice(folder.length)}:${line}`);
    };
    expect(await found("Hello")).toEqual(["/grep/a.txt:1", "/grep/a.txt:4", "/grep/sub/b.py:1"]);
    expect(await found("Hello", "*.py")).toEqual(["/grep/sub/b.py:1"]);
    expect(await found("$100")).toEqual(["/grep/a.txt:1"]);
    expect(await found("[a-z]*")).toEqual(["/grep/a.txt:3"]);
    expect(await found("\u4E16")).toEqual(["/grep/a.txt:3"]);
    expect(await found("nowhere")).toEqual([]);
    expect(await sandbox.grep("Hello", at("grep"), null, 1)).toMatchObject({ truncated: true });
    mkdirSync(at("nothing"));
    expect(await sandbox.grep("x", at("nothing"))).toEqual({ matches: [] });
  });

  it("deletes files and folders", async () => {
    await sandbox.write(at("gone/a.txt"), "x");
    expect(await sandbox.delete(at("gone"))).toEqual({ path: at("gone"), filesUpdate: null });
    expect((await sandbox.delete(at("gone"))).error).toContain("not found");
  });
});

describe("LocalShellBackend", () => {
  it("starts in one step or two, takes initial files, and closes", async () => {
    const initialFiles = { "/src/run.sh": "echo started", [at("by-address.txt")]: "x" };
    const made = await LocalShellBackend.create({ rootDir: folder, initialFiles });
    expect((await made.execute("sh src/run.sh && cat by-address.txt")).output).toBe("started\nx");
    const later = new LocalShellBackend({ rootDir: folder });
    expect(later.isRunning).toBe(false);
    await later.initialize();
    expect([later.isRunning, later.id === made.id]).toEqual([true, false]);
    await later.close();
    expect(later.isRunning).toBe(false);
  });

  it("gives commands only harmless process variables unless inheritEnv is set", async () => {
    process.env["HOLDFAST_TEST_KEY"] = "secret";
    try {
      const [closed, open] = [{}, { inheritEnv: true }].map(
        (options) => new LocalShellBackend({ rootDir: folder, ...options }),
      );
      expect((await closed!.execute("echo $HOLDFAST_TEST_KEY")).output).toBe("\n");
      expect((await open!.execute("echo $HOLDFAST_TEST_KEY")).output).toBe("secret\n");
    } finally {
      delete process.env["HOLDFAST_TEST_KEY"];
    }
  });
});

async function run(steps: Step[], options: CreateDeepAgentParams): Promise<string[]> {
  const agent = createDeepAgent({ model: new ScriptedModel([...steps, "Done."]), ...options });
  const { messages } = await agent.invoke(say("Go."));
  return replies(messages);
}

describe("permissions", () => {
  const backend = (): FilesystemBackend => {
    for (const name of ["workspace/sub", "secrets"]) mkdirSync(at(name), { recursive: true });
    for (const name of ["workspace/a.ts", "workspace/sub/b.ts", "secrets/key.txt"]) {
      writeFileSync(at(name), "text");
    }
    return new FilesystemBackend({ rootDir: folder });
  };
  const denied = expect.stringContaining("not allowed") as string;
  const shown = expect.stringContaining("text") as string;

  it("the first rule that matches decides, and what no rule names is allowed", async () => {
    const allow = { operations: ["read"], paths: ["/workspace/**"] } as const;
    const deny = { ...allow, paths: ["/**"], mode: "deny" } as const;
    const calls = [read("/workspace/a.ts"), read("/secrets/key.txt")];
    const tried = (...permissions: { operations: readonly ["read"]; paths: readonly string[] }[]) =>
      run([calls], { backend: backend(), permissions: permissions as never });
    expect(await tried(allow, deny)).toEqual([shown, denied]);
    expect(await tried(deny, allow)).toEqual([denied, denied]);
    expect(await tried({ ...deny, paths: ["/other/**"] })).toEqual([shown, shown]);
    // One star is one name: nothing below is allowed by it.
    const star = { ...allow, paths: ["/workspace/*"] };
    expect(
      await run([[read("/workspace/a.ts"), read("/workspace/sub/b.ts")]], {
        backend: backend(),
        permissions: [star, deny] as never,
      }),
    ).toEqual([shown, denied]);
  });

  it("let the agent read, but not delete, a file that it may not write", async () => {
    const permissions = [{ operations: ["write"] as const, paths: ["/secrets/**"], mode: "deny" as const }];
    const steps = [
      read("/secrets/key.txt"),
      write("/secrets/key.txt"),
      callTool("delete_file", { file_path: "/secrets/key.txt" }),
    ];
    expect(await run([steps], { backend: backend(), permissions })).toEqual([shown, denied, denied]);
  });

  it("hide files that the agent may not read from listings and searches", async () => {
    const permissions = [
      { operations: ["read"] as const, paths: ["/{secrets,none}/**"], mode: "deny" as const },
    ];
    const steps = [
      callTool("ls"),
      callTool("glob", { pattern: "**" }),
      callTool("grep", { pattern: "text" }),
    ];
    const answers = await run([steps], { backend: backend(), permissions });
    expect(answers).toHaveLength(3);
    for (const answer of answers) expect(answer).not.toContain("secrets");
  });

  it("a sub-agent has its caller's rules, or its own in their place", async () => {
    const operations = ["read"] as const;
    const permissions = [{ operations, paths: ["/secrets/**"], mode: "deny" as const }];
    const subagents = [
      { name: "same", description: "Reads.", systemPrompt: "Read." },
      { name: "other", description: "Reads.", systemPrompt: "Read.", permissions: [] },
    ];
    const model = new ScriptedModel([
      callTool("task", { description: "Read.", subagent_type: "same" }),
      read("/secrets/key.txt"),
      "It is denied.",
      callTool("task", { description: "Read.", subagent_type: "other" }),
      read("/secrets/key.txt"),
      "It is text.",
      "Done.",
    ]);
    await createDeepAgent({ model, backend: backend(), permissions, subagents }).invoke(say("Go."));
    expect([replies(model.requests[2]!.messages), replies(model.requests[5]!.messages)]).toEqual([
      [denied],
      [shown],
    ]);
  });
});

describe("dangling calls", () => {
  const call = (id: string) => ({ id, name: "read_file", args: {} });
  const sent = async (messages: BaseMessage[]): Promise<string[]> => {
    const model = new ScriptedModel(["Done."]);
    await createAgent({ model, tools: [], middleware: [createPatchToolCallsMiddleware()] }).invoke({
      messages,
    });
    return model.requests[0]!.messages.map((message) =>
      ToolMessage.isInstance(message) ? `tool ${message.tool_call_id}` : message.type,
    );
  };

  it("get their results directly after their message, next to existing results", async () => {
    const both = new AIMessage({ content: "", tool_calls: [call("1"), call("2")] });
    const answer = new ToolMessage({ content: "ok", tool_call_id: "2" });
    expect(await sent([new HumanMessage("a"), both, answer, new HumanMessage("b")])).toEqual(
      expect.arrayContaining(["tool 1", "tool 2"]),
    );
    const [one, two] = ["3", "4"].map((id) => new AIMessage({ content: "", tool_calls: [call(id)] }));
    expect(await sent([one!, new HumanMessage("a"), two!, new HumanMessage("b")])).toEqual([
      "ai",
      "tool 3",
      "human",
      "ai",
      "tool 4",
      "human",
    ]);
  });

  it("leave a conversation without dangling calls unchanged", async () => {
    const whole = [
      new HumanMessage("a"),
      new AIMessage({ content: "", tool_calls: [call("1")] }),
      new ToolMessage({ content: "ok", tool_call_id: "1" }),
    ];
    expect(await sent(whole)).toEqual(["human", "ai", "tool 1"]);
    expect(await sent([new HumanMessage("a"), new AIMessage({ content: "b", tool_calls: [] })])).toEqual([
      "human",
      "ai",
    ]);
  });
});

describe("other backends", () => {
  it("a subclass that overrides a method is asked by the agent", async () => {
    class Guarded extends FilesystemBackend {
      override async write(path: string, content: string): Promise<WriteResult> {
        return path.startsWith("/frozen/") ? { error: "This folder is frozen." } : super.write(path, content);
      }
    }
    const steps = [write("/frozen/a.md"), write("/b.md"), callTool("glob", { pattern: "**/*.md" })];
    const [refused, written, listed] = await run([steps], { backend: new Guarded({ rootDir: folder }) });
    expect(refused).toContain("This folder is frozen.");
    expect([written, listed]).toEqual(["Created /b.md.", "/b.md"]);
  });

  it("a backend with only the methods of either protocol version works", async () => {
    const files = new Map<string, string>();
    const shared = {
      write: (path: string, content: string) => (files.set(path, content), { path }),
      edit: (path: string, before: string, after: string) => {
        files.set(path, files.get(path)!.replace(before, after));
        return { path, occurrences: 1 };
      },
      grep: () => ({ matches: [] }),
      glob: () => ({ files: [] }),
    };
    const infos = () => [...files.keys()].map((path) => ({ path, is_dir: false }));
    const second: BackendProtocol = {
      ...shared,
      ls: () => ({ files: infos() }),
      read: (path) => (files.has(path) ? { content: files.get(path)! } : { error: "file not found" }),
    };
    const first = {
      ...shared,
      lsInfo: infos,
      read: (path: string) => files.get(path) ?? "Error: not found",
      readRaw: (path: string) => {
        if (!files.has(path)) throw new Error(`File '${path}' not found`);
        return { content: files.get(path)!.split("\n") };
      },
    };
    for (const backend of [second, first]) {
      files.clear();
      const edit = callTool("edit_file", { file_path: "/a.md", old_string: "one", new_string: "two" });
      const calls = [write("/a.md", "one\nline"), edit, read("/a.md"), callTool("ls"), read("/none.md")];
      const answers = await run(calls, { backend });
      expect(answers[2]).toBe("     1\ttwo\n     2\tline");
      expect(answers[3]).toContain("/a.md");
      expect(answers[4]).toContain("not found");
    }
  });

  it("StateBackend in a program's hands reads the state and answers with an update", async () => {
    const state = { files: { "/a.md": { content: ["one", "two"] } } };
    const backend = new StateBackend({ state });
    expect(await backend.read("/a.md", 1)).toMatchObject({ content: "two", totalLines: 2 });
    expect(await backend.edit("/a.md", "two", "2")).toEqual({
      path: "/a.md",
      occurrences: 1,
      filesUpdate: { "/a.md": { content: "one\n2" } },
    });
    expect(await backend.delete("/a.md")).toEqual({ path: "/a.md", filesUpdate: { "/a.md": null } });
  });

  it("StoreBackend builds its namespace from state and config, and reads old data", async () => {
    const store = new InMemoryStore();
    await store.put(["ann", "t1"], "/old.md", { content: ["old", "lines"], created_at: "" });
    const backend = new CompositeBackend(new StateBackend(), {
      "/memories/": new StoreBackend({
        namespace: ({ state, config }) => [
          (state as { user: string }).user,
          String(config?.configurable?.["thread_id"]),
        ],
      }),
    });
    const model = new ScriptedModel([[read("/memories/old.md"), write("/memories/new.md", "new")], "Done."]);
    const agent = createDeepAgent({ model, store, backend, stateSchema: z.object({ user: z.string() }) });
    const { messages } = await agent.invoke(
      { ...say("Go."), user: "ann" },
      { configurable: { thread_id: "t1" } },
    );
    expect(replies(messages)[0]).toBe("     1\told\n     2\tlines");
    expect((await store.get(["ann", "t1"], "/new.md"))?.value).toEqual({ content: "new" });
    expect(await new StoreBackend({ store, namespace: ["ann", "t1"] }).readRaw("/new.md")).toEqual({
      data: { content: "new", mimeType: "text/plain" },
    });
    await expect(new StoreBackend().read("/a.md")).rejects.toThrow("has no store");
  });
});

describe("createDeepAgent of DeepAgents", () => {
  it("takes LangChain's todo list in the place of our plan", async () => {
    const model = new ScriptedModel(["Done."]);
    await createDeepAgent({ model, middleware: [todoListMiddleware() as AnyAgentMiddleware] }).invoke(
      say("Go."),
    );
    const names = (model.requests[0]!.tools as { function: { name: string } }[]).map(
      ({ function: { name } }) => name,
    );
    expect(names.filter((name) => name.includes("todos"))).toEqual(["write_todos"]);
  });

  it("asks for consent to `delete`, which is `delete_file` here", async () => {
    const model = new ScriptedModel([callTool("delete_file", { file_path: "/a.md" }), "Done."]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver(), interruptOn: { delete: true } });
    const input = { ...say("Go."), files: { "/a.md": "a" } };
    expect(await agent.invoke(input, { configurable: { thread_id: "1" } })).toHaveProperty("__interrupt__");
  });

  it("gives a sub-agent its own skills, and gives a plain agent a memory", async () => {
    for (const name of ["for-all", "for-one"]) {
      mkdirSync(at(`${name}/${name}`), { recursive: true });
      writeFileSync(at(`${name}/${name}/SKILL.md`), `---\nname: ${name}\ndescription: Does it.\n---\nText.`);
    }
    writeFileSync(at("AGENTS.md"), "Use tabs.");
    const backend = new FilesystemBackend({ rootDir: folder });
    const model = new ScriptedModel([
      callTool("task", { description: "Do it.", subagent_type: "one" }),
      "Done.",
      "Done.",
      "Done.",
    ]);
    const one = { name: "one", description: "Does it.", systemPrompt: "Do.", skills: ["/for-one/for-one"] };
    await createDeepAgent({ model, backend, skills: ["/for-all"], subagents: [one] }).invoke(say("Go."));
    const prompts = model.requests.map(({ messages }) => messages[0]!.text);
    expect(prompts[0]).toContain("for-all: Does it.");
    expect(prompts[1]).toContain("for-one: Does it.");
    expect(prompts[1]).not.toContain("for-all");
    const middleware = [createMemoryMiddleware({ backend, sources: ["/AGENTS.md", "/none.md"] })];
    await createAgent({ model, tools: [], middleware }).invoke(say("Go."));
    expect(model.requests[3]!.messages[0]!.text).toContain("Use tabs.");
  });

  it("warns once about skills outside the backend", async () => {
    mkdirSync(at("project"));
    mkdirSync(at("skills"));
    const warning = vi.spyOn(process, "emitWarning").mockReturnValue(undefined);
    try {
      const backend = new FilesystemBackend({ rootDir: at("project") });
      const model = new ScriptedModel([callTool("ls"), "Done."]);
      await createDeepAgent({ model, backend, skills: [at("skills"), "/none"] }).invoke(say("Go."));
      expect(warning.mock.calls).toEqual([[expect.stringContaining(`${at("skills")} are not in`)]]);
    } finally {
      warning.mockRestore();
    }
  });

  it("keeps bytes in files as bytes", async () => {
    const bytes = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]);
    const agent = createDeepAgent({ model: new ScriptedModel(["Done."]) });
    const { files } = await agent.invoke({ ...say("Go."), files: { "/a.png": { content: bytes } } });
    expect(files["/a.png"]).toMatchObject({ mimeType: "image/png" });
    expect([...(files["/a.png"]!.content as Uint8Array)]).toEqual([...bytes]);
  });
});
