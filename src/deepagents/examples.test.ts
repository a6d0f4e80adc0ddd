import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { Command, InMemoryStore, MemorySaver } from "@langchain/langgraph";
import { AIMessageChunk, createMiddleware, tool, type ToolRuntime } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { serve } from "../../test/helpers/page/graph-server.ts";
import { callTool, ScriptedModel, type Step } from "../testing/index.ts";
import {
  BaseSandbox,
  CompositeBackend,
  createAgentMemoryMiddleware,
  createDeepAgent,
  createSettings,
  createSkillsMiddleware,
  FilesystemBackend,
  listSkills,
  LocalShellBackend,
  StateBackend,
  StoreBackend,
  type AsyncSubAgent,
  type CompiledSubAgent,
  type CreateDeepAgentParams,
  type ExecuteResponse,
  type FileDownloadResponse,
  type FileUploadResponse,
  type SubAgent,
} from "./index.ts";

/**
 * Each case does what one public example of DeepAgents JS does, in the same calls, with a scripted model. With the
 * import of `deepagents` 1.14.1 they pass, too, but for four: names of older programs, a project's `agent.md`, the words
 * of results of remote tasks, and the result of `task` in the stream `messages`.
 */

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-deepagents-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const search = tool(({ query }: { query: string }) => `Three results for ${query}.`, {
  name: "internet_search",
  description: "Searches the web.",
  schema: z.object({ query: z.string(), maxResults: z.number().optional().default(5) }),
});
const say = (text: string) => ({ messages: [new HumanMessage(text)] });
const write = (file_path: string, content: string) => callTool("write_file", { file_path, content });
const task = (subagent_type: string, description = "Look into it.") =>
  callTool("task", { description, subagent_type });
const replies = (messages: BaseMessage[]): string[] =>
  messages.flatMap((message) => (ToolMessage.isInstance(message) ? message.text : []));
const promptOf = (model: ScriptedModel, request = 0): string => model.requests[request]!.messages[0]!.text;

describe("backends", () => {
  it("state: a researcher keeps its files in the thread", async () => {
    const model = new ScriptedModel([
      write("research_question.txt", "Trends?"),
      callTool("internet_search", { query: "agents" }),
      write("summary.md", "Agents plan."),
      "Done.",
    ]);
    const agent = createDeepAgent({
      model,
      tools: [search],
      systemPrompt: "You do research.",
      backend: new StateBackend(),
    });
    const { files, messages } = await agent.invoke(say("Research agents."), { recursionLimit: 50 });
    expect(files["summary.md"]?.content).toBe("Agents plan.");
    expect(replies(messages)).toContain("Three results for agents.");
    expect(promptOf(model)).toMatch(/^You do research\./);
  });

  it("filesystem: a coding assistant works in a folder on disk", async () => {
    const model = new ScriptedModel([
      write("/src/email.ts", "export const isEmail = (text: string) => /@/.test(text);\n"),
      callTool("edit_file", {
        file_path: "/src/email.ts",
        old_string: "/@/",
        new_string: "/^\\S+@\\S+$/",
      }),
      "Done.",
    ]);
    const backend = new FilesystemBackend({ rootDir: folder, virtualMode: true, maxFileSizeMb: 1 });
    await createDeepAgent({ model, systemPrompt: "You write code.", backend }).invoke(say("Write it."));
    expect(readFileSync(join(folder, "src/email.ts"), "utf8")).toContain("/^\\S+@\\S+$/");
  });

  it("store: files are there in the next thread", async () => {
    const model = new ScriptedModel([
      write("/notes.txt", "Agents plan."),
      "Done.",
      callTool("read_file", { file_path: "/notes.txt" }),
      "Agents plan.",
    ]);
    const store = new InMemoryStore();
    const agent = createDeepAgent({
      model,
      tools: [search],
      checkpointer: new MemorySaver(),
      store,
      backend: (config) => new StoreBackend(config),
    });
    await agent.invoke(say("Research."), { configurable: { thread_id: "1" } });
    const { messages } = await agent.invoke(say("Anything?"), { configurable: { thread_id: "2" } });
    expect(replies(messages)).toEqual([expect.stringContaining("Agents plan.")]);
    expect((await store.get(["filesystem"], "/notes.txt"))?.value).toMatchObject({ content: "Agents plan." });
  });

  it("composite: drafts stay in the thread, memories in the store", async () => {
    const model = new ScriptedModel([
      [write("/draft.md", "d"), write("/memories/report.md", "Agents plan.")],
      "Done.",
      [callTool("ls", { path: "/" }), callTool("read_file", { file_path: "/memories/report.md" })],
      "Yes.",
    ]);
    const agent = createDeepAgent({
      model,
      checkpointer: new MemorySaver(),
      store: new InMemoryStore(),
      backend: (config) =>
        new CompositeBackend(new StateBackend(config), { "/memories/": new StoreBackend(config) }),
    });
    const first = await agent.invoke(say("Research."), { configurable: { thread_id: "1" } });
    expect(Object.keys(first.files)).toEqual(["/draft.md"]);
    const second = await agent.invoke(say("Anything?"), { configurable: { thread_id: "2" } });
    const [listed, report] = replies(second.messages);
    expect(listed).toContain("/memories/");
    expect(listed).not.toContain("draft");
    expect(report).toContain("Agents plan.");
  });

  it("local shell: files and commands of the host", async () => {
    const model = new ScriptedModel([
      write("/package.json", '{ "name": "demo", "scripts": { "test": "node --test" } }'),
      callTool("execute", { command: "node -p \"require('./package.json').name\" && echo $DEMO" }),
      "Done.",
    ]);
    const rootDir = join(folder, "workspace");
    const env = { DEMO: "from the program" };
    const backend = new LocalShellBackend({ rootDir, virtualMode: true, inheritEnv: true, timeout: 60, env });
    const { messages } = await createDeepAgent({ model, backend }).invoke(say("Make a project."));
    expect(replies(messages)[1]).toContain("demo\nfrom the program");
  });
});

/** A sandbox as the example has it: three methods, on a folder of this machine. */
class ShellSandbox extends BaseSandbox {
  readonly id = "shell";
  readonly #folder: string;

  constructor(workingDirectory: string) {
    super();
    this.#folder = workingDirectory;
  }

  execute(command: string): Promise<ExecuteResponse> {
    return new Promise((resolve) => {
      execFile("/bin/bash", ["-c", command], { cwd: this.#folder }, (error, stdout, stderr) =>
        resolve({ output: stdout + stderr, exitCode: error ? Number(error.code) : 0, truncated: false }),
      );
    });
  }

  async uploadFiles(files: [string, Uint8Array][]): Promise<FileUploadResponse[]> {
    return files.map(([path, content]) => {
      mkdirSync(dirname(join(this.#folder, path)), { recursive: true });
      writeFileSync(join(this.#folder, path), content);
      return { path, error: null };
    });
  }

  async downloadFiles(paths: string[]): Promise<FileDownloadResponse[]> {
    return paths.map((path) => {
      const file = join(this.#folder, path);
      if (!existsSync(file)) return { path, content: null, error: "file_not_found" };
      return { path, content: readFileSync(file), error: null };
    });
  }
}

it("sandbox: a program's own sandbox runs the commands", async () => {
  const model = new ScriptedModel([
    write("/holdfast-hello.js", 'console.log("Hello!");'),
    callTool("execute", { command: "node holdfast-hello.js" }),
    "It says hello.",
  ]);
  const agent = createDeepAgent({ model, backend: new ShellSandbox(folder) });
  const { messages } = await agent.invoke(say("Make it and run it."), { recursionLimit: 50 });
  expect(replies(messages)[1]).toContain("Hello!");
  expect(messages.at(-1)?.text).toBe("It says hello.");
});

it("hierarchical: a deep agent is the sub-agent of another, and has one itself", async () => {
  const verify = tool(({ claim }: { claim: string }) => `Verified: ${claim}`, {
    name: "verify_claim",
    description: "Verifies a claim.",
    schema: z.object({ claim: z.string() }),
  });
  const checker: SubAgent = {
    name: "fact-checker",
    description: "Checks facts.",
    systemPrompt: "You check facts.",
    tools: [verify],
  };
  const model = new ScriptedModel([
    task("research-specialist"),
    [write("/findings.md", "Wind grows."), task("fact-checker")],
    callTool("verify_claim", { claim: "Wind grows." }),
    "It is true.",
    "Wind grows, and that is true.",
    "Here it is.",
  ]);
  const specialist = createDeepAgent({ model, tools: [search], subagents: [checker] });
  const agent = createDeepAgent({
    model,
    subagents: [
      {
        name: "research-specialist",
        description: "Does research.",
        runnable: specialist,
      } satisfies CompiledSubAgent,
    ],
  });
  const { messages, files } = await agent.invoke(say("Research wind."));
  expect(replies(messages).join()).toContain("Wind grows, and that is true.");
  expect(files["/findings.md"]?.content).toBe("Wind grows.");
  expect(replies(model.requests[3]!.messages)).toEqual(["Verified: Wind grows."]);
});

it("research: an older program's tool names, `prompt` and `instructions` still work", async () => {
  const researcher: SubAgent = {
    name: "research-agent",
    description: "Answers one question.",
    prompt: "You are a researcher.",
    tools: ["internet_search"],
  };
  const critic: SubAgent = { name: "critique-agent", description: "Reads reports.", prompt: "You edit." };
  const model = new ScriptedModel([
    [write("question.txt", "What is it?"), task("research-agent")],
    callTool("internet_search", { query: "it" }),
    "It is a library.",
    write("final_report.md", "# It"),
    task("critique-agent"),
    "Too short.",
    "Done.",
  ]);
  const agent = createDeepAgent({
    model,
    tools: [search],
    instructions: "You write reports.",
    subagents: [critic, researcher],
  });
  const { files } = await agent.invoke(say("What is it?"), { recursionLimit: 1000 });
  expect(Object.keys(files).toSorted()).toEqual(["final_report.md", "question.txt"]);
  expect([promptOf(model), promptOf(model, 1)].map((text) => text.split("\n")[0])).toEqual([
    "You write reports.",
    "You are a researcher.",
  ]);
});

it("memory: the prompt has AGENTS.md by its disk path even if reads are denied", async () => {
  writeFileSync(join(folder, "AGENTS.md"), "Build with make.\n");
  const rootDir = join(folder, "project");
  mkdirSync(rootDir);
  writeFileSync(join(rootDir, "AGENTS.md"), "Use tabs.\n");
  const model = new ScriptedModel(["With make."]);
  const agent = createDeepAgent({
    model,
    systemPrompt: "You help.",
    backend: new FilesystemBackend({ rootDir }),
    memory: [join(folder, "AGENTS.md"), join(rootDir, "AGENTS.md"), "/none.md"],
    permissions: [{ operations: ["read"], paths: ["/AGENTS.md"], mode: "deny" }],
  });
  await agent.invoke(say("How is it built?"), { recursionLimit: 10 });
  for (const text of ["Build with make.", "Use tabs."]) expect(promptOf(model)).toContain(text);
});

it("skills and memory: settings give the paths, and middleware shows the content", async () => {
  mkdirSync(join(folder, ".git"));
  const settings = createSettings({ startPath: join(folder) });
  expect(settings).toMatchObject({ projectRoot: folder, hasProject: true });
  const skills = settings.ensureProjectSkillsDir()!;
  mkdirSync(join(skills, "web-research"));
  const fields =
    "license: MIT\ncompatibility: needs curl\nmetadata: { version: 1.2 }\nallowed-tools: ls grep\n";
  const skill = `---\nname: web-research\ndescription: How to search.\n${fields}---\nUse two sources.\n`;
  writeFileSync(join(skills, "web-research/SKILL.md"), skill);
  writeFileSync(settings.getProjectAgentMdPath()!, "Answer in French.");
  const userSkillsDir = join(folder, "none");
  expect(listSkills({ userSkillsDir, projectSkillsDir: settings.getProjectSkillsDir() })).toEqual([
    {
      name: "web-research",
      description: "How to search.",
      license: "MIT",
      compatibility: "needs curl",
      metadata: { version: "1.2" },
      allowedTools: ["ls", "grep"],
      path: join(skills, "web-research/SKILL.md"),
      source: "project",
    },
  ]);

  const backend = new FilesystemBackend({ rootDir: folder });
  const model = new ScriptedModel([
    callTool("read_file", { file_path: join(skills, "web-research/SKILL.md") }),
    "One.",
  ]);
  const agent = createDeepAgent({
    model,
    backend,
    middleware: [
      createSkillsMiddleware({ backend, sources: [skills] }),
      createAgentMemoryMiddleware({ settings, assistantId: "my-agent" }),
    ],
  });
  const { messages } = await agent.invoke(say("What skills do you have?"));
  expect(promptOf(model)).toMatch(/web-research[^]*How to search\./);
  expect(promptOf(model)).toContain(".deepagents/skills/");
  expect(promptOf(model)).toContain("Answer in French.");
  expect(replies(messages)[0]).toContain("Use two sources.");
});

it("skills in the state: given with the input, they are listed and read", async () => {
  const model = new ScriptedModel([
    callTool("read_file", { file_path: "/skills/arxiv-search/SKILL.md" }),
    "Done.",
  ]);
  const agent = createDeepAgent({ model, skills: ["/skills/"] });
  const content = ["---", "name: arxiv-search", "description: Finds papers.", "---", "Ask twice."];
  const created_at = new Date(0).toISOString();
  const { messages } = await agent.invoke({
    ...say("Find papers."),
    files: { "/skills/arxiv-search/SKILL.md": { content, created_at, modified_at: created_at } },
  });
  expect(promptOf(model)).toMatch(/arxiv-search[^]*Finds papers\./);
  expect(replies(messages)[0]).toContain("Ask twice.");
});

it("template: execute and write_file wait for the user's consent", async () => {
  const clock = tool(() => "noon", { name: "utc_now", description: "The time.", schema: z.object({}) });
  const model = new ScriptedModel([callTool("utc_now"), write("/a.md", "a"), "Done."]);
  const agent = createDeepAgent({
    model,
    tools: [clock],
    checkpointer: new MemorySaver(),
    subagents: [
      { name: "critic", description: "Finds faults.", systemPrompt: "You review.", tools: [clock] },
    ],
    interruptOn: { execute: true, write_file: true },
  });
  const config = { configurable: { thread_id: "1" } };
  const waiting = await agent.invoke(say("Write it."), config);
  expect(waiting).toHaveProperty("__interrupt__");
  expect(waiting.files).toEqual({});
  const decisions = [{ type: "approve" }];
  const { files } = await agent.invoke(new Command({ resume: { decisions } }) as never, config);
  expect(files["/a.md"]?.content).toBe("a");
});

it("repl: a custom middleware's own tool reads files and writes a report", async () => {
  const evaluate = tool(({ code }: { code: string }) => String(code.split("+").length), {
    name: "js_eval",
    description: "Runs code.",
    schema: z.object({ code: z.string() }),
  });
  const model = new ScriptedModel([
    callTool("read_file", { file_path: "/data/sales.json" }),
    callTool("js_eval", { code: "1+2" }),
    write("/reports/sales.md", "2"),
    "Done.",
  ]);
  const repl = createMiddleware({ name: "QuickJSMiddleware", tools: [evaluate] });
  const agent = createDeepAgent({ model, middleware: [repl] });
  const now = new Date(0).toISOString();
  const data = { content: "[1, 2]", mimeType: "application/json", created_at: now, modified_at: now };
  const { files } = await agent.invoke({ ...say("Sum up."), files: { "/data/sales.json": data } });
  expect(files["/reports/sales.md"]?.content).toBe("2");
});

describe("async sub-agents", () => {
  it("start, check, update, list and cancel tasks on a server", async () => {
    const worker = new ScriptedModel(["Qubits grow.", "Only commercial ones.", "Never read."]);
    const served = await serve({ researcher: createDeepAgent({ model: worker }) });
    const researcher: AsyncSubAgent = {
      name: "researcher",
      description: "Does research.",
      graphId: "researcher",
      url: served.url,
      headers: { authorization: `Bearer ${served.token}` },
    };
    const ids: string[] = [];
    const idle = async (): Promise<void> => {
      const [run] = await served.client.runs.list(ids[0]!);
      await served.client.runs.join(ids[0]!, run!.run_id);
    };
    const onTask =
      (name: string, more: object = {}) =>
      (): Step =>
        callTool(name, { taskId: ids[0], ...more });
    const model = new ScriptedModel([
      callTool("start_async_task", { agentName: "researcher", description: "Qubits?" }),
      "Started.",
      onTask("check_async_task"),
      "Here.",
      onTask("update_async_task", { message: "Only commercial." }),
      "Sent.",
      callTool("list_async_tasks"),
      onTask("check_async_task"),
      "Here.",
      onTask("cancel_async_task"),
      callTool("check_async_task", { taskId: "none" }),
      "Cancelled.",
    ]);
    const agent = createDeepAgent({ model, checkpointer: new MemorySaver(), subagents: [researcher] });
    const config = { configurable: { thread_id: "supervisor" } };
    const answers = async (text: string): Promise<unknown[]> => {
      const { messages } = await agent.invoke(say(text), config);
      const last = messages.findLastIndex((message) => message.type === "human");
      return replies(messages.slice(last)).map((reply) =>
        reply.startsWith("Error") ? reply : (JSON.parse(reply) as unknown),
      );
    };
    try {
      const [started] = (await answers("Research qubits.")) as { taskId: string; status: string }[];
      ids.push(started!.taskId);
      expect(started!.status).toBe("running");
      await idle();
      expect(await answers("Any results?")).toEqual([
        { taskId: ids[0], status: "success", result: "Qubits grow." },
      ]);
      expect(await answers("Only commercial ones.")).toEqual([{ taskId: ids[0], status: "running" }]);
      await idle();
      expect(await answers("All tasks?")).toEqual([
        [{ taskId: ids[0], agentName: "researcher", status: "success" }],
        { taskId: ids[0], status: "success", result: "Only commercial ones." },
      ]);
      expect(await answers("Stop it.")).toEqual([
        { taskId: ids[0], status: "cancelled" },
        expect.stringContaining(`There is no task "none"; there are: ${ids[0]}`),
      ]);
    } finally {
      await served.close();
    }
  });
});

describe("streams", () => {
  const analyze = tool(
    ({ topic }: { topic: string }, config: ToolRuntime) => {
      config.writer?.({ status: "starting", topic });
      config.writer?.({ status: "complete" });
      return `${topic} is fine.`;
    },
    { name: "analyze_data", description: "Analyzes.", schema: z.object({ topic: z.string() }) },
  );
  const agentOf = (streamTransformers: NonNullable<CreateDeepAgentParams["streamTransformers"]> = []) =>
    createDeepAgent({
      streamTransformers,
      model: new ScriptedModel([
        task("analyst"),
        callTool("analyze_data", { topic: "Work" }),
        "It is fine.",
        "All is fine.",
      ]),
      subagents: [
        { name: "analyst", description: "Analyzes.", systemPrompt: "You analyze.", tools: [analyze] },
      ],
    });
  const isSub = (namespace: string[]): boolean => namespace.some((part) => part.startsWith("tools:"));

  it("updates: the life of a sub-agent is seen by node names and namespaces", async () => {
    const seen: string[] = [];
    const options = { streamMode: "updates", subgraphs: true } as const;
    for await (const [namespace, chunk] of await agentOf().stream(say("Analyze."), options)) {
      for (const [node, data] of Object.entries(chunk as Record<string, { messages?: BaseMessage[] }>)) {
        const calls = (data?.messages ?? []).flatMap((message) =>
          AIMessage.isInstance(message) ? (message.tool_calls ?? []).map(({ name }) => name) : message.type,
        );
        if (node !== "model_request" && node !== "tools") continue;
        seen.push([isSub(namespace) ? "sub" : "main", node, ...calls].join(" "));
      }
    }
    expect(seen).toEqual([
      "main model_request task",
      "sub model_request analyze_data",
      "sub tools tool",
      "sub model_request",
      "main tools tool",
      "main model_request",
    ]);
  });

  it("custom: progress of a sub-agent's tool comes with its namespace", async () => {
    const events: unknown[] = [];
    const options = { streamMode: "custom", subgraphs: true } as const;
    for await (const [namespace, chunk] of await agentOf().stream(say("Analyze."), options)) {
      if (isSub(namespace) && "status" in (chunk as object)) events.push(chunk);
    }
    expect(events).toEqual([{ status: "starting", topic: "Work" }, { status: "complete" }]);
  });

  it("messages: the source of each text, call and result identifies its agent", async () => {
    const texts = { main: "", sub: "" };
    const calls: string[] = [];
    const results: string[] = [];
    const options = { streamMode: "messages", subgraphs: true } as const;
    for await (const [namespace, chunk] of await agentOf().stream(say("Analyze."), options)) {
      const [message] = chunk as unknown as [BaseMessage];
      const source = isSub(namespace) ? "sub" : "main";
      if (AIMessageChunk.isInstance(message)) {
        for (const { name } of message.tool_call_chunks ?? []) if (name) calls.push(`${source} ${name}`);
        if (!message.tool_call_chunks?.length) texts[source] += message.text;
      }
      if (ToolMessage.isInstance(message)) results.push(message.name!);
    }
    expect(calls).toEqual(["main task", "sub analyze_data"]);
    expect(results).toEqual(["analyze_data", "task"]);
    expect(texts).toEqual({ main: "All is fine.", sub: "It is fine." });
  });

  it("events: a run has its sub-agents by name, and a program's own projection", async () => {
    let count = 0;
    const counting = () => ({
      init: () => ({ count: () => count }),
      process: () => {
        count += 1;
        return true;
      },
    });
    const run = await agentOf([counting]).streamEvents(say("Analyze."), { version: "v3" });
    const named = async (): Promise<string[]> => {
      const texts: string[] = [];
      for await (const { name, messages } of run.subagents) {
        for await (const message of messages) texts.push(`${name}: ${await message.text}`);
      }
      return texts;
    };
    const own = async (): Promise<string[]> => {
      const texts: string[] = [];
      for await (const message of run.messages) texts.push(await message.text);
      return texts;
    };
    const [theirs, main] = await Promise.all([named(), own()]);
    expect(theirs).toEqual(["analyst: ", "analyst: It is fine."]);
    expect(main.at(-1)).toBe("All is fine.");
    expect((run.extensions as { count: () => number }).count()).toBe(count);
    expect(count).toBeGreaterThan(0);
  });

  it("several modes at once: each item names its mode", async () => {
    const modes = new Set<string>();
    const options = { streamMode: ["updates", "messages", "custom"], subgraphs: true } as const;
    for await (const item of await agentOf().stream(say("Analyze."), options as never)) {
      const [namespace, mode] = item as unknown as [string[], string, unknown];
      modes.add(`${isSub(namespace) ? "sub" : "main"} ${mode}`);
    }
    expect([...modes]).toEqual(expect.arrayContaining(["main updates", "sub messages", "sub custom"]));
  });
});
