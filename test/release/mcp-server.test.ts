import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport, type Progress } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { mcpTools } from "../../src/mcp/index.ts";
import { calls, says } from "../helpers/models/chat-stream.ts";
import { startModelServer, type ModelServer } from "../helpers/models/model-server.ts";
import { run } from "../helpers/terminal/run-program.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
/** A loaded machine is slow, not wrong. */
const SLOWLY = { timeout: 120_000 };

let home: string;
let dir: string;
let model: ModelServer;
let script: string[];
let clients: Client[];

beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-as-mcp-")));
  dir = join(home, "project");
  mkdirSync(dir);
  script = [];
  clients = [];
  model = await startModelServer(() => ({ status: 200, body: script.shift() ?? says("ok") }));
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  model.stop();
  rmSync(home, { recursive: true });
});

const environment = () => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai-compatible:m",
  HOLDFAST_BASE_URL: `${model.url}/v1`,
});
const command = (...flags: string[]) => ({
  command: process.execPath,
  args: [MAIN, "mcp", ...flags],
  cwd: dir,
  env: environment(),
});
const holdfast = (...args: string[]) =>
  run(process.execPath, [MAIN, ...args], { cwd: dir, env: environment() });

interface Called {
  text: string;
  isError: boolean;
  state: string;
  thread: string;
}

/** The SDK's own client, connected to a process of `holdfast mcp`. */
async function connect(
  flags: readonly string[],
  { fill }: { fill?: (message: string) => Record<string, string> | undefined } = {},
) {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: fill ? { elicitation: { form: {} } } : {} },
  );
  if (fill) {
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const content = fill(params.message);
      return content ? { action: "accept" as const, content } : { action: "decline" as const };
    });
  }
  await client.connect(new StdioClientTransport(command(...flags)));
  clients.push(client);
  const call = async (
    name: string,
    args: Record<string, unknown> = {},
    options: { onprogress?: (progress: Progress) => void; signal?: AbortSignal } = {},
  ): Promise<Called> => {
    const result = await client.callTool({ name, arguments: args }, { timeout: 120_000, ...options });
    const [block] = result.content;
    const text = block?.type === "text" ? block.text : "";
    return { text, isError: result.isError === true, ...(result.structuredContent as object) } as Called;
  };
  return { client, call };
}

const todos = () => calls(["write_todos", { todos: ["Read it", "Build it"] }]);
const write = (name: string): [string, object] => ["write_file", { file_path: `/${name}`, content: "new" }];

describe("holdfast mcp", () => {
  it("runs a task with progress that names plan items, and reports on it afterwards", async () => {
    script = [
      todos(),
      calls(["update_todos", { done: "1", note: "by hand" }], write("notes.md")),
      calls(["update_todos", { done: "2", note: "by hand" }]),
      says("Built."),
    ];
    const { client, call } = await connect([]);
    const heard: Progress[] = [];
    const done = await call("run_task", { task: "Build it" }, { onprogress: (one) => heard.push(one) });
    expect(done).toMatchObject({ state: "done", isError: false });
    expect(done.text).toMatch(/^Thread build-it-\w+: done, 2 of 2 items closed\.\n\nBuilt\./);
    expect(heard.some(({ message }) => message?.startsWith("0/2 #1 Read it"))).toBe(true);
    expect(heard.some(({ message }) => message?.startsWith("1/2 #2 Build it"))).toBe(true);
    const numbers = heard.map(({ progress }) => progress);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);

    const { thread } = done;
    expect((await call("list_threads")).text).toContain(`${thread}\tdone\t2/2\tBuild it`);
    expect((await call("show_plan", { thread })).text).toMatch(
      /- \[x\] #1: Read it\n(?: {2}.*\n)*- \[x\] #2: Build it/,
    );
    expect((await holdfast("threads")).stdout).toContain(thread);
    const { resources } = await client.listResources();
    expect(resources[0]).toMatchObject({ uri: `holdfast://threads/${thread}/plan` });
    const read = async (uri: string) => (await client.readResource({ uri })).contents;
    expect(await read(resources[0]!.uri)).toMatchObject([
      { text: expect.stringMatching(/^- \[x\] #1: Read it\n(?: {2}.*\n)*- \[x\] #2: Build it\n/) as string },
    ]);
    expect(await read(`holdfast://threads/${thread}/files/notes.md`)).toMatchObject([{ text: "new" }]);
    const unknown = await call("show_plan", { thread: "nope" });
    expect(unknown).toMatchObject({
      isError: true,
      text: expect.stringContaining("There is no thread nope"),
    });
  });

  it("leaves a thread that continues after a cancel, and edits its plan", async () => {
    const { call } = await connect(["--dir", ".", "--shell", "--yes"]);
    script = [todos(), calls(["execute", { command: "touch started; sleep 60" }])];
    const abort = new AbortController();
    const done = call("run_task", { task: "Wait" }, { signal: abort.signal });
    await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
    abort.abort();
    await expect(done).rejects.toThrow(/abort/i);
    const [, thread = ""] = /^(wait-\w+)\t/.exec((await call("list_threads")).text) ?? [];
    await vi.waitFor(
      async () => expect((await call("show_plan", { thread })).state).not.toBe("running"),
      SLOWLY,
    );
    const edited = await call("edit_plan", { thread, plan: "- [>] #1: Read it\n- [ ] Test it" });
    expect(edited.text).toContain("Test it");
    script = [calls(["update_todos", { cancel: "1,3" }]), says("Stopped in time.")];
    expect(await call("continue_task", { thread })).toMatchObject({ state: "done" });

    script = [calls(["execute", { command: "touch again; sleep 60" }])];
    const second = call("run_task", { task: "Wait" });
    await vi.waitFor(() => expect(existsSync(join(dir, "again"))).toBe(true), SLOWLY);
    const [, other = ""] = /^(wait-\w+)\trunning/m.exec((await call("list_threads")).text) ?? [];
    expect((await call("cancel", { thread: other })).text).toContain("continue_task resumes it");
    expect(await second).toMatchObject({ state: "interrupted" });
  });

  it("is served next to the page for clients with the token, and for Holdfast's client", async () => {
    const child = spawn(process.execPath, [MAIN, "serve", "--port", "0"], { cwd: dir, env: environment() });
    try {
      const [line] = (await once(child.stdout, "data")) as [Buffer];
      const [, url = "", token = ""] = /^(.*)\/#token=(.*)\n$/.exec(line.toString()) ?? [];
      const stranger = await fetch(`${url}/mcp`, { method: "POST", body: "{}" });
      expect(stranger.status).toBe(401);
      const client = new Client({ name: "test", version: "1" });
      clients.push(client);
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
      );
      script = [todos(), calls(["update_todos", { done: "1,2", note: "by hand" }]), says("Built.")];
      const heard: string[] = [];
      const onprogress = ({ message = "" }: Progress): void => void heard.push(message);
      const done = await client.callTool(
        { name: "run_task", arguments: { task: "Build it" } },
        { onprogress, timeout: 120_000 },
      );
      expect(JSON.stringify(done.content)).toContain("Built.");
      expect(heard.some((message) => message.includes("#1 Read it"))).toBe(true);
      const threads = await fetch(`${url}/holdfast/threads`, { headers });
      expect(await threads.text()).toContain("Build it");

      const { tools, notes, close } = await mcpTools({
        mcpServers: { deep: { url: `${url}/mcp`, headers } },
      });
      try {
        expect(notes).toEqual([]);
        const [tool, ...others] = tools.filter(({ name }) => name === "mcp__deep__run_task");
        expect(others).toEqual([]);
        script = [says("Fine.")];
        const result: unknown = await tool!.invoke({ task: "How are you?" });
        expect(JSON.stringify(result)).toContain("Fine.");
      } finally {
        await close();
      }
    } finally {
      child.kill("SIGTERM");
      await once(child, "exit");
    }
  });
});
