import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LLMock, type ChatCompletionRequest, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { inPipes, pipes } from "../../../../test/helpers/terminal/piped-command.ts";
import { Allowed } from "../../../project/allowed.ts";
import { openProject } from "../../../project/index.ts";
import { sqliteSaver } from "../../../storage/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import { threadsGraph } from "../../../threads/host/threads-graph.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { graphOptions } from "../commands/servers/worker.ts";

const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: FixtureResponse[] = [];
let home: string;
let folder: string;
beforeAll(async () => {
  server.on({ toolName: "ls" }, () => script.shift() ?? { content: "Done." });
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-cli-")));
  folder = join(home, "work");
  mkdirSync(join(folder, ".git"), { recursive: true });
  script = [];
  server.clearRequests();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function put(path: string, text: string): void {
  const file = join(home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
const call = (name: string, args: object): FixtureResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

const place = (env: Record<string, string> = {}) => ({
  env: {
    HOME: home,
    HOLDFAST_MODEL: "openai:gpt-5.1",
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: `${server.url}/v1`,
    OLLAMA_HOST: "http://127.0.0.1:49151",
    LM_STUDIO_BASE_URL: "http://127.0.0.1:49151",
    ...env,
  },
  cwd: folder,
});
const holdfast = (args: readonly string[], env?: Record<string, string>) => inPipes(args, place(env));
const run = (...args: string[]) => holdfast(["run", "--dir", ".", ...args]);
const sent = (): string[] =>
  server.getRequests().map(({ body }) => JSON.stringify((body as ChatCompletionRequest).messages));

const PROJECT = {
  "work/AGENTS.md": "Use tabs.",
  "work/.agents/skills/greet/SKILL.md":
    "---\nname: greet\ndescription: says hello\n---\nSay hello to $ARGUMENTS.\n",
  "work/.holdfast/config.json": '{"mode":"auto","deny":["execute(rm*)"]}',
  "work/.mcp.json": '{"mcpServers":{"evil":{"command":"evil"}}}',
};

describe("a project that the user has not trusted", () => {
  beforeEach(() => {
    for (const [path, text] of Object.entries(PROJECT)) put(path, text);
  });

  it("is left out when no user can be asked, and one line says so", async () => {
    script = [call("execute", { command: "touch proof" })];
    const { code, out } = await run("--shell", "Go");
    expect(out).toContain(
      `Left out, because this folder is not trusted: AGENTS.md, .agents/skills, .holdfast/config.json, .mcp.json. Say yes with holdfast trust ${folder}.\n`,
    );
    // The mode of the repository would not have asked.
    expect(code).toBe(3);
    expect(() => readFileSync(join(folder, "proof"))).toThrow("ENOENT");
    expect(sent()[0]).not.toContain("Use tabs.");
    expect(sent()[0]).not.toContain("says hello");
  });

  it("is used with --trust-project, which is remembered until it is taken back", async () => {
    script = [call("execute", { command: "touch proof" }), call("execute", { command: "rm proof" })];
    expect(await run("--shell", "--trust-project", "Go")).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "proof"), "utf8")).toBe("");
    expect(sent()[0]).toContain("Use tabs.");
    expect(sent()[0]).toContain(`${folder}/.agents/skills/<name>/SKILL.md`);
    expect(sent()[2]).toContain("the rule execute(rm*) forbids it");

    server.clearRequests();
    const again = await run("Go");
    expect(again.out).not.toContain("Left out");
    expect(sent()[0]).toContain("Use tabs.");
    expect((await holdfast(["trust"])).out).toBe(`${folder}\n`);

    expect((await holdfast(["trust", ".", "--revoke"])).out).toBe(`${folder} is no longer trusted.\n`);
    server.clearRequests();
    expect((await run("Go")).out).toContain("Left out");
    expect(sent()[0]).not.toContain("Use tabs.");
    expect(await holdfast(["trust", ".", "--revoke"])).toMatchObject({ code: 2 });
  });

  it("is trusted only where there is one", async () => {
    const { code, err } = await holdfast(["run", "--no-dir", "--trust-project", "Go"]);
    expect(code).toBe(2);
    expect(err).toContain("--trust-project is about a directory: add --dir");
  });

  it("is not trusted where its settings cannot be used", async () => {
    mkdirSync(join(folder, ".holdfast"), { recursive: true });
    writeFileSync(join(folder, ".holdfast/config.json"), '{"modle":"x"}');
    expect(await holdfast(["trust", "."])).toMatchObject({
      code: 2,
      err: expect.stringContaining("modle") as string,
    });
    expect((await holdfast(["trust"])).out).toBe("");
  });

  it("is trusted with a separate command, which says what that means", async () => {
    const { out } = await holdfast(["trust", "."]);
    expect(out).toContain(`${folder}/.holdfast/config.json: sets mode, deny\n`);
    expect(out).toContain(`${folder}/.mcp.json: servers: evil\n`);
    expect(out).toContain(`${folder} is trusted.\n`);
    put("work/.mcp.json", "{}");
    expect((await run("Go")).out).toContain(
      "Left out, as they have changed since this folder was trusted: .holdfast/config.json, .mcp.json.",
    );
    expect(sent()[0]).toContain("Use tabs.");
  });

  it("is not read with --no-project, also when the thread continues", async () => {
    await holdfast(["trust", "."]);
    expect((await run("--no-project", "--thread", "t", "Go")).out).not.toContain("Left out");
    await run("--thread", "t", "Again");
    for (const request of sent()) expect(request).not.toContain("Use tabs.");
    await run("--thread", "t", "--project", "Again");
    expect(sent().at(-1)).toContain("Use tabs.");
  });

  it("is heard by the threads of a server once it is trusted", async () => {
    const saver = await sqliteSaver(join(home, "threads.db"));
    const model = new ScriptedModel(["one", "two"]);
    const graph = threadsGraph({
      saver,
      defaults: { ...DEFAULT_SETTINGS, dir: folder },
      cwd: folder,
      modelOf: async () => ({ model, name: "scripted", source: "option", isFallback: false }),
      projectOf: ({ dir }) => openProject({ dir, env: { HOME: home } }),
    });
    for (const thread of ["before", "after"]) {
      const { agent } = await graph.prepare(thread, { graph: "holdfast" });
      const input = { messages: [{ role: "user", content: "/greet you" }] };
      await agent.graph.invoke(input as never, { configurable: { thread_id: thread } });
      await holdfast(["trust", "."]);
    }
    saver.close();
    const [before, after] = model.requests.map(({ messages }) => messages.map(({ text }) => text).join("\n"));
    expect(before).not.toContain("Use tabs.");
    expect(after).toContain("Use tabs.");
    expect(after).toContain("Say hello to you.");
  });

  it("defines sub-agents once trusted, with their tools, model and budget", async () => {
    const scout =
      "---\nname: scout\ndescription: looks\ntools: Read, LS\nmodel: none:x\nbudget: { calls: 1 }\n---\nBe quick.\n";
    put("work/.agents/agents/scout.md", scout);
    script = [call("task", { subagent_type: "scout", description: "look" })];
    await run("Go");
    expect(sent().at(-1)).toContain("there is no sub-agent");
    await holdfast(["trust", "."]);
    server.clearRequests();
    const read = call("read_file", { file_path: "/AGENTS.md" });
    script = [call("task", { subagent_type: "scout", description: "look" }), read];
    const { out } = await run("Go");
    expect(out).toContain("The sub-agent scout has the agent's model:");
    const { messages, tools } = server.getRequests()[1]!.body as ChatCompletionRequest;
    expect(JSON.stringify(messages)).toContain("Be quick.");
    expect(tools!.map((tool) => tool.function.name)).toEqual(["ls", "read_file"]);
    expect(sent().at(-1)).toContain("Stopped after 1 model call, the most for this sub-agent");
  });

  it("a permanent permission holds in a run, and doctor shows how to revoke it", async () => {
    const env = { HOME: home };
    await new Allowed(folder, env).add(["write_file(/notes/**)"]);
    const write = call("write_file", { file_path: "/notes/a.txt", content: "a" });
    script = [write];
    await run("--mode", "ask", "Go");
    expect(readFileSync(join(folder, "notes/a.txt"), "utf8")).toBe("a");
    const { out } = await holdfast(["doctor"], { HOLDFAST_MODEL: "" });
    expect(out).toMatch(
      /always allowed here: write_file\(\/notes\/\*\*\) \(.*allowed\.json; \/allow in a session/,
    );
  });

  it("a permanent permission holds in the runs of a server and a worker until revoked", async () => {
    const allowed = new Allowed(folder, { HOME: home });
    await allowed.add(["write_file(/notes/**)"]);
    const { terminal } = pipes(place());
    const options = await graphOptions({ dir: ".", mode: "ask" }, terminal);
    const write = (path: string) => callTool("write_file", { file_path: path, content: "a" });
    const model = new ScriptedModel([write("/notes/a.txt"), "Done.", write("/notes/b.txt")]);
    const saver = await sqliteSaver(join(home, "threads.db"));
    const modelOf: typeof options.modelOf = async () => ({
      model,
      name: "scripted",
      source: "option",
      isFallback: false,
    });
    const graph = threadsGraph({ ...options, saver, modelOf });
    for (const thread of ["before", "after"]) {
      const { agent } = await graph.prepare(thread, { graph: "holdfast" });
      const input = { messages: [{ role: "user", content: "Write" }] };
      await agent.graph.invoke(input as never, { configurable: { thread_id: thread } });
      await allowed.remove("write_file(/notes/**)");
    }
    saver.close();
    await options.servers.close();
    expect(readdirSync(join(folder, "notes"))).toEqual(["a.txt"]);
  });

  it("--no-dir of a server holds for the offline model, too", async () => {
    const { terminal } = pipes(place());
    const dirOf = async (dir: string | false | undefined) => {
      const options = await graphOptions({ dir, model: "offline" }, terminal);
      const saver = await sqliteSaver(":memory:");
      const ready = await threadsGraph({ ...options, saver }).prepare("t", { graph: "holdfast" });
      saver.close();
      await options.servers.close();
      return ready.dir;
    };
    expect(await dirOf(undefined)).toBe(folder);
    expect(await dirOf(false)).toBeUndefined();
  });

  it("is listed by doctor, file by file, with what each sets and why it is left out", async () => {
    put(".config/holdfast/config.json", '{"model":"offline"}');
    put("work/packages/AGENTS.md", "not on the way");
    const before = (await holdfast(["doctor"], { HOLDFAST_MODEL: "" })).out;
    expect(before).toContain("✓ config: ");
    expect(before).toContain("model: offline (settings)");
    expect(before).toContain(
      `· instructions: ${folder}/AGENTS.md: left out: the folder is not trusted (holdfast trust)\n`,
    );
    await holdfast(["trust", "."]);
    const after = (await holdfast(["doctor"], { HOLDFAST_MODEL: "" })).out;
    expect(after).toContain(`✓ instructions: ${folder}/AGENTS.md: in the prompt\n`);
    expect(after).toContain(`✓ skills: ${folder}/.agents/skills: greet\n`);
    expect(after).toContain(`· mcp: ${folder}/.mcp.json: servers: evil\n`);
    put(".config/holdfast/config.json", '{"modell":"offline"}');
    const wrong = await holdfast(["doctor"]);
    expect(wrong.out).toContain('there is no setting "modell" (did you mean "model"?)');
    expect(wrong.code).toBe(1);
  });
});

describe("settings of the user", () => {
  it("name the model and its prices, unless the environment does", async () => {
    const prices = '{"openai:gpt-5.1":{"input":1000000,"output":0}}';
    put(".config/holdfast/config.json", `{"model":"openai:gpt-5.1","prices":${prices}}`);
    const { out, code } = await holdfast(["run", "--json", "Go"], { HOLDFAST_MODEL: "" });
    expect(code).toBe(0);
    const end = JSON.parse(out.trimEnd().split("\n").at(-1)!) as {
      cost: number;
      usage: { inputTokens: number };
    };
    expect(end.cost).toBe(end.usage.inputTokens);
    expect(end.cost).toBeGreaterThan(0);
    const env = { HOLDFAST_MODEL: "", HOLDFAST_PRICES: "0,0" };
    const free = (await holdfast(["run", "--json", "Go"], env)).out.trimEnd().split("\n").at(-1)!;
    expect(JSON.parse(free)).toMatchObject({ cost: 0 });
  });

  it("with a mistake print one line and exit with 2", async () => {
    put(".config/holdfast/config.json", '{"mod":"auto"}');
    const { code, err } = await holdfast(["run", "Go"]);
    expect(code).toBe(2);
    expect(err).toBe(
      `holdfast: ${home}/.config/holdfast/config.json: there is no setting "mod" (did you mean "mode"?).\n`,
    );
  });
});

describe("--mode", () => {
  it("refuses calls that need a question in an unattended run, and the run continues", async () => {
    script = [call("write_file", { file_path: "/a", content: "x" })];
    const { code, out } = await run("--mode", "ask", "Go");
    expect(code).toBe(0);
    expect(out).toContain("✗ write a");
    expect(sent()[1]).toContain("this run cannot ask");
  });

  it("auto is --yes, and --ask comes on top of a mode", async () => {
    script = [call("execute", { command: "touch proof" })];
    expect(await run("--shell", "--mode", "auto", "Go")).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "proof"), "utf8")).toBe("");
    script = [call("execute", { command: "git push" })];
    await run("--shell", "--mode", "auto", "--ask", "execute(git push*),task", "Go");
    expect(sent().at(-1)).toContain("this run cannot ask");
  });

  it.each([
    [["--mode", "yolo"], "--mode is"],
    [["--mode", "ask", "--yes"], "--yes is --mode auto"],
    [["--mode", "plan", "--no-plan"], "--mode plan needs a plan"],
    [["--ask", "excute(rm*)"], 'there is no tool "excute(rm*)"'],
    [["--ask", "execute(rm"], "is no rule"],
  ])("%j is one line and exit 2", async (flags, said) => {
    const { code, err } = await run(...flags, "Go");
    expect(code).toBe(2);
    expect(err).toContain(said);
  });

  it("plan waits for the plan's approval, and then continues", async () => {
    script = [call("write_file", { file_path: "/a", content: "x" }), call("write_todos", { todos: ["a"] })];
    const { code, out } = await run("--mode", "plan", "--thread", "t", "Go");
    expect(code).toBe(3);
    expect(out).toContain("✗ write a");
    script = [
      call("write_file", { file_path: "/a", content: "x" }),
      call("update_todos", { done: "1", note: "by hand" }),
    ];
    expect(await holdfast(["resume", "t", "--answer", "approve"])).toMatchObject({ code: 0 });
    expect(readFileSync(join(folder, "a"), "utf8")).toBe("x");
  });
});
