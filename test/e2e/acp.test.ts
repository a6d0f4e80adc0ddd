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
import { pathToFileURL } from "node:url";
import { methods, type SessionUpdate, type ToolCallContent } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { sqliteSaver } from "../../src/storage/index.ts";
import { settingsOfThread } from "../../src/threads/thread/thread-settings.ts";
import { decisionsIn } from "../contracts/questions.ts";
import { startEditor, type Editor, type EditorOptions } from "../helpers/acp/editor.ts";
import { calls, says, thinks } from "../helpers/models/chat-stream.ts";
import { startModelServer, type ModelServer } from "../helpers/models/model-server.ts";
import { run } from "../helpers/terminal/run-program.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");

/** A loaded machine is slow, not wrong. */
const SLOWLY = { timeout: 120_000 };

/** What a model's server answers next; "ok" when there is nothing left. */
let script: (string | { status: number; body: object })[];
let permit: NonNullable<EditorOptions["permit"]>;
let fill: NonNullable<EditorOptions["fill"]>;
let home: string;
let dir: string;
let model: ModelServer;
/** One that offers nothing, and one that has forms, files and terminals: a process takes longer than most tests. */
let plain: Editor;
let rich: Editor;
const buffers = new Map<string, string>();
const editors: Editor[] = [];

beforeAll(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-acp-")));
  dir = home;
  model = await startModelServer(() => {
    const next = script.shift() ?? says("ok");
    return typeof next === "string" ? { status: 200, body: next } : next;
  });
  // It notes when it loads LangChain.
  const hooks = join(home, "hooks.mjs");
  writeFileSync(
    hooks,
    `import { appendFileSync } from "node:fs";
export async function load(url, context, next) {
  const loaded = await next(url, context);
  // A file of the bundled command names the packages in it.
  if (/langchain/.test(url) || /^\\/\\/ node_modules\\/@?langchain/m.test(String(loaded.source ?? "")))
    appendFileSync(${JSON.stringify(loaded())}, url + "\\n");
  return loaded;
}`,
  );
  const register = `data:text/javascript,import { register } from "node:module"; register(${JSON.stringify(pathToFileURL(hooks).href)});`;
  plain = await open({ nodeFlags: ["--import", register] });
  rich = await open({
    capabilities: {
      elicitation: { form: {} },
      fs: { readTextFile: true, writeTextFile: true },
      terminal: true,
    },
  });
});
afterAll(async () => {
  await Promise.all(editors.map((editor) => editor.end()));
  model.stop();
  rmSync(home, { recursive: true });
});
beforeEach(() => {
  dir = mkdtempSync(join(home, "project-"));
  script = [];
  permit = () => "allow";
  model.requests.length = 0;
  for (const editor of editors) editor.clear();
});

const loaded = (): string => join(home, "loaded");
const sent = (at = -1): string => JSON.stringify(model.requests.at(at)?.body["messages"]);

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai-compatible:m",
  HOLDFAST_BASE_URL: `${model.url}/v1`,
});
const open = async (options: Partial<EditorOptions> = {}): Promise<Editor> => {
  const editor = await startEditor({
    cwd: dir,
    env: environment(),
    permit: (request) => permit(request),
    fill: (request) => fill(request),
    buffers,
    ...options,
  });
  editors.push(editor);
  return editor;
};
/** Begins a session in the directory of a test. */
const begin = async ({ agent }: Editor, mode?: string): Promise<string> => {
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: dir, mcpServers: [] });
  if (mode !== undefined) await agent.request(methods.agent.session.setMode, { sessionId, modeId: mode });
  return sessionId;
};
const holdfast = (...args: string[]) =>
  run(process.execPath, [MAIN, ...args], { cwd: dir, env: environment() });

const write = (name: string, content = "new"): [string, object] => [
  "write_file",
  { file_path: `/${name}`, content },
];
const ofKind = <Kind extends SessionUpdate["sessionUpdate"]>(updates: readonly SessionUpdate[], kind: Kind) =>
  updates.filter(
    (update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind,
  );
/** How each call ended, by its id. */
const ends = ({ updates }: Editor) =>
  Object.fromEntries(
    ofKind(updates, "tool_call_update").flatMap(({ toolCallId, status }) =>
      status === undefined || status === null ? [] : [[toolCallId, status]],
    ),
  );
const shownIn = ({ updates }: Editor, id: string): ToolCallContent[] =>
  ofKind(updates, "tool_call_update").findLast(({ toolCallId, content }) => toolCallId === id && content)
    ?.content ?? [];

it("a budget in money stops a prompt at its model's prices, and stays in the thread", async () => {
  const usage = { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 };
  const spent = `data: ${JSON.stringify({ id: "u", object: "chat.completion.chunk", choices: [], usage })}\n\n`;
  const look = () => calls(["ls", { path: "/" }]).replace("data: [DONE]", () => `${spent}data: [DONE]`);
  script = [look(), look(), look(), look()];
  const env = { ...environment(), HOLDFAST_PRICES: "3,15" };
  const editor = await open({ env, flags: ["--budget", "cost=0.008"] });
  const session = await begin(editor);
  for (const prompt of ["Look", "Look on"]) {
    await editor.prompt(session, prompt);
    expect(editor.said()).toContain("Stopped after");
  }
  expect(model.requests).toHaveLength(4);
  const saver = await sqliteSaver(join(home, "threads.db"));
  const { budget, mode } = (await settingsOfThread(saver, session))!;
  saver.close();
  expect(budget).toMatchObject({ cost: 0.008, prices: { input: 3 } });
  // Nobody has chosen one for it.
  expect(mode).toBeUndefined();
});

describe("holdfast acp", () => {
  it("answers before it loads LangChain, and prints only the protocol", async () => {
    const editor = plain;
    expect(existsSync(loaded())).toBe(false);
    expect(editor.hello).toMatchObject({
      protocolVersion: 1,
      agentInfo: { name: "holdfast" },
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true } },
      authMethods: [{ id: "environment" }],
    });
    const session = await begin(editor);
    expect(existsSync(loaded())).toBe(true);
    expect(await editor.prompt(session, "Hello")).toEqual({ stopReason: "end_turn" });
    expect(editor.said()).toBe("ok");
    const lines = editor.output().trim().split("\n");
    expect(lines.every((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc === "2.0")).toBe(true);
    expect(editor.errors()).toBe("");
  });

  it("shows the plan with ids and states in words, and a sub-agent's plan in its call", async () => {
    script = [
      calls([
        "write_todos",
        { todos: [{ content: "Read" }, { content: "Build" }, { content: "Ship" }, { content: "Rest" }] },
      ]),
      calls(
        ["update_todos", { block: [{ id: "3", reason: "no key" }], cancel: "4" }],
        ["task", { subagent_type: "general-purpose", description: "Read it all" }],
      ),
      calls(["write_todos", { todos: ["Look", "Report"] }]),
      calls(["update_todos", { done: "1,2", note: "by hand" }]),
      says("Read."),
      calls(["update_todos", { done: "1,2", note: "by hand" }]),
      says("Built."),
    ];
    const editor = plain;
    await editor.prompt(await begin(editor), "Build it");
    const [first] = ofKind(editor.updates, "plan");
    expect(first?.entries.map(({ content }) => content)).toEqual(["Read", "Build", "Ship", "Rest"]);
    const last = ofKind(editor.updates, "plan").at(-1)!.entries;
    expect(last.map(({ content, status }) => [content, status])).toEqual([
      ["Read", "completed"],
      ["Build (unverified)", "completed"],
      ["Ship (blocked: no key)", "pending"],
      ["Rest (cancelled)", "completed"],
    ]);
    const ship = { id: "3", content: "Ship", status: "blocked", note: "no key" };
    expect(last[2]!["_meta"]).toEqual({ holdfast: ship });
    const task = ofKind(editor.updates, "tool_call").find(({ name }) => name === "task")!;
    expect(JSON.stringify(shownIn(editor, task.toolCallId))).toMatch(
      /- \[x\] #1: Look\\n.*- \[x\] #2: Report/,
    );
    expect(ends(editor)[task.toolCallId]).toBe("completed");
    // The plan's own calls are seen as the plan.
    expect(ofKind(editor.updates, "tool_call").map(({ name }) => name)).toEqual(["task"]);
  });

  it("asks with a diff before a call runs, and a refused call does not change the file", async () => {
    writeFileSync(join(dir, "a.txt"), "old\n");
    script = [calls(write("a.txt", "new\n")), says("Not done.")];
    const editor = plain;
    permit = () => "reject";
    await editor.prompt(await begin(editor), "Change a.txt");
    const [{ toolCall, options }] = editor.asked as [(typeof editor.asked)[0]];
    expect(toolCall).toMatchObject({
      title: "write_file /a.txt",
      kind: "edit",
      status: "pending",
      locations: [{ path: join(dir, "a.txt") }],
      content: [{ type: "diff", path: join(dir, "a.txt"), oldText: "old\n", newText: "new\n" }],
    });
    expect(options.map(({ kind }) => kind)).toEqual(["allow_once", "allow_always", "reject_once"]);
    expect(readFileSync(join(dir, "a.txt"), "utf8")).toBe("old\n");
    expect(ends(editor)).toEqual({ [toolCall.toolCallId]: "failed" });
    expect(sent()).toContain("The user does not allow this write_file call");
  });

  it("takes an option that it did not offer for no", async () => {
    script = [
      calls(write("a")),
      calls(["ask_clarification", { question: "Which colour?", options: ["red", "blue"] }]),
    ];
    permit = () => "";
    await plain.prompt(await begin(plain), "Write");
    expect(plain.asked).toHaveLength(2);
    expect(existsSync(join(dir, "a"))).toBe(false);
    // The question is still open: the next prompt is its answer.
    expect(plain.said()).toContain("Which colour?");
  });

  it("keeps a permanent yes for parallel and later calls, never for files git obeys", async () => {
    script = [
      calls(write("a"), write("b")),
      calls(write("c"), write(".vscode/tasks.json")),
      says("Written."),
    ];
    const editor = plain;
    permit = ({ toolCall }) => (toolCall.title?.includes(".vscode") ? "reject" : "always");
    const session = await begin(editor);
    await editor.prompt(session, "Write");
    expect(editor.asked.map(({ toolCall }) => toolCall.title)).toEqual([
      "write_file /a",
      "write_file /.vscode/tasks.json",
    ]);
    expect(["a", "b", "c"].map((name) => existsSync(join(dir, name)))).toEqual([true, true, true]);
    expect(existsSync(join(dir, ".vscode/tasks.json"))).toBe(false);
    // The model used its ids twice; the editor has each once.
    const ids = ofKind(editor.updates, "tool_call").map(({ toolCallId }) => toolCallId);
    expect(ids).toEqual(["call_1", "call_2", "call_1~2", "call_2~2"]);
    // Another session knows nothing of it.
    script = [calls(write("d")), says("Written.")];
    await editor.prompt(await begin(editor), "Write");
    expect(editor.asked).toHaveLength(3);
  });

  it("records each decision, and a permanent yes as a yes to the call that asked", async () => {
    // The protocol has no words for a no.
    const choices = ["allow", "reject", "always"];
    permit = () => choices.shift();
    script = [calls(write("a"), write("b")), calls(write("c")), calls(write("d")), says("Written.")];
    await plain.prompt(await begin(plain), "Write");
    const saver = await sqliteSaver(join(home, "threads.db"));
    const recorded = await decisionsIn(saver);
    saver.close();
    expect(recorded).toEqual([{ type: "approve" }, { type: "reject" }, { type: "approve" }]);
    expect(["a", "b", "c", "d"].map((name) => existsSync(join(dir, name)))).toEqual([
      true,
      false,
      true,
      true,
    ]);
  });

  it("changes modes while it works, and says so", async () => {
    script = [calls(write("a")), calls(write("b")), says("Written.")];
    const editor = plain;
    const session = await begin(editor);
    let switched: Promise<unknown> | undefined;
    permit = () => {
      const toAuto = { sessionId: session, modeId: "auto" };
      switched = editor.agent.request(methods.agent.session.setMode, toAuto);
      return "allow";
    };
    await editor.prompt(session, "Write");
    await switched;
    expect(editor.asked).toHaveLength(1);
    expect(existsSync(join(dir, "b"))).toBe(true);
    expect(ofKind(editor.updates, "current_mode_update").at(-1)).toMatchObject({ currentModeId: "auto" });
    const wrong = editor.agent.request(methods.agent.session.setMode, { sessionId: session, modeId: "yolo" });
    await expect(wrong).rejects.toThrow('There is no mode "yolo".');
    const { configOptions } = await editor.agent.request(methods.agent.session.setConfigOption, {
      sessionId: session,
      configId: "model",
      value: "offline",
    });
    expect(configOptions.map(({ id, currentValue }) => [id, currentValue])).toEqual([
      ["mode", "auto"],
      ["model", "offline"],
      ["effort", "default"],
    ]);
    const effort = (value: string) =>
      editor.agent.request(methods.agent.session.setConfigOption, {
        sessionId: session,
        configId: "effort",
        value,
      });
    expect((await effort("high")).configOptions.at(-1)).toMatchObject({ currentValue: "high" });
    await expect(effort("most")).rejects.toThrow('There is no effort "most".');
  });

  it("asks about an open plan after a switch to plan mode, before any other change", async () => {
    const todos = () => calls(["write_todos", { todos: ["Read", "Build"] }]);
    const refused = "nothing is changed before the user has approved a plan";
    script = [todos(), says("Later."), says("Later."), says("Later.")];
    const session = await begin(plain);
    await plain.prompt(session, "Plan");
    const toPlan = { sessionId: session, modeId: "plan" };
    await plain.agent.request(methods.agent.session.setMode, toPlan);
    script = [calls(write("a")), todos(), calls(write("b")), calls(["update_todos", { cancel: "1,2" }])];
    permit = () => "approve";
    await plain.prompt(session, "Go on");
    expect(sent()).toContain(refused);
    expect(plain.asked.map(({ toolCall }) => toolCall.title)).toContain("Work on this plan?");
    expect([existsSync(join(dir, "a")), existsSync(join(dir, "b"))]).toEqual([false, true]);
    // The mode has another name once the plan is approved.
    const names = ofKind(plain.updates, "config_option_update").map(({ configOptions }) =>
      JSON.stringify(configOptions).includes('"Plan approved"'),
    );
    expect(names.at(-1)).toBe(true);

    // Also where the next words are an answer, which goes on in the middle of a turn.
    script = [todos(), calls(["ask_clarification", { question: "How?" }])];
    const other = await begin(plain);
    await plain.prompt(other, "Plan");
    await plain.agent.request(methods.agent.session.setMode, { ...toPlan, sessionId: other });
    script = [calls(write("c")), says("Later."), says("Later."), says("Later.")];
    await plain.prompt(other, "By hand");
    expect(sent()).toContain("The user answers: By hand");
    expect(sent()).toContain(refused);
    expect(existsSync(join(dir, "c"))).toBe(false);
  });

  it("puts a plan and questions in forms, or as options to an editor that has none", async () => {
    const todos = () => calls(["write_todos", { todos: ["Read", "Build"] }]);
    const question = () =>
      calls(["ask_clarification", { question: "Which colour?", options: ["red", "blue"] }]);
    script = [todos(), todos(), question(), calls(["update_todos", { cancel: "1,2" }]), says("Done.")];
    const filled: string[] = [];
    fill = ({ message, ...form }) => {
      filled.push(message);
      if (message.startsWith("Which colour?")) return { action: "accept", content: { answer: "green" } };
      expect(form).toMatchObject({ requestedSchema: { required: ["decision"] } });
      const decision = filled.length === 1 ? "reject" : "approve";
      return { action: "accept", content: { decision, reason: "too long" } };
    };
    await rich.prompt(await begin(rich, "plan"), "Build");
    // To cancel what was approved is asked about as well.
    expect(filled).toHaveLength(4);
    expect(filled[0]).toContain("- [>] #1: Read");
    expect(sent(1)).toContain("too long");
    expect(sent(3)).toContain("green");

    script = [todos(), question(), calls(["update_todos", { cancel: "1,2" }]), says("Done.")];
    permit = ({ options }) => options.find(({ name }) => name === "Approve" || name === "blue")!.optionId;
    await plain.prompt(await begin(plain, "plan"), "Build");
    expect(plain.asked.map(({ toolCall }) => toolCall.title)).toEqual([
      "Work on this plan?",
      "Which colour?",
      "Work on this plan?",
    ]);
    expect(sent(-2)).toContain("blue");
    // What was asked is over in the editor's list, too: the plan twice, the question, and the call that asked it.
    expect(Object.values(ends(plain))).toEqual(Array.from({ length: 4 }, () => "completed"));

    // Neither a form nor options: the next prompt is the answer.
    script = [calls(["ask_clarification", { question: "Which name?" }]), says("Called so.")];
    plain.clear();
    const session = await begin(plain);
    expect(await plain.prompt(session, "Call it")).toEqual({ stopReason: "end_turn" });
    expect(plain.said()).toContain("Which name?");
    await plain.prompt(session, "Ada");
    expect(plain.said()).toBe("Called so.");
    expect(sent()).toContain("The user answers: Ada");
  });

  it("reads and edits unsaved text, and runs commands in the editor's terminals", async () => {
    const file = join(dir, "a.txt");
    writeFileSync(file, "saved\n");
    script = [
      calls(["read_file", { file_path: "/a.txt" }]),
      calls(["edit_file", { file_path: "/a.txt", old_string: "unsaved", new_string: "better" }]),
      calls(["execute", { command: "echo out of $HOLDFAST_MODEL; exit 3" }]),
      says("Done."),
    ];
    buffers.set(file, "unsaved\n");
    const editor = rich;
    await editor.prompt(await begin(editor), "Improve a.txt");
    expect(sent(1)).toContain("unsaved");
    expect(buffers.get(file)).toBe("better\n");
    expect(readFileSync(file, "utf8")).toBe("saved\n");
    const [, edit, command] = ofKind(editor.updates, "tool_call");
    expect(shownIn(editor, edit!.toolCallId)).toEqual([
      { type: "diff", path: file, oldText: "unsaved\n", newText: "better\n" },
    ]);
    expect(command).toMatchObject({ kind: "execute", title: "`echo out of $HOLDFAST_MODEL; exit 3`" });
    expect(shownIn(editor, command!.toolCallId)[0]).toEqual({ type: "terminal", terminalId: "terminal-0" });
    // Nothing of the editor's variables.
    expect(sent()).toContain("out of\\n[Exit code 3.]");
    expect(ends(editor)).toMatchObject({ [command!.toolCallId]: "failed" });
  });

  it("has the editor open the file that was read, and no link of the same name", async () => {
    const inner = join(dir, dir, "evil.txt");
    mkdirSync(dirname(inner), { recursive: true });
    writeFileSync(inner, "plain\n");
    symlinkSync(join(home, "outside"), join(dir, "evil.txt"));
    const address = join(dir, "evil.txt");
    buffers.set(address, "of others\n");
    script = [
      calls(["read_file", { file_path: address }]),
      calls(["write_file", { file_path: address, content: "new\n" }]),
      says("Done."),
    ];
    await rich.prompt(await begin(rich), "Change it");
    expect(sent()).not.toContain("of others");
    expect(buffers.get(address)).toBe("of others\n");
    expect(buffers.get(inner)).toBe("new\n");
    const diff = { type: "diff", path: inner, oldText: "plain\n", newText: "new\n" };
    expect(rich.asked[0]!.toolCall.content).toEqual([diff]);
    expect(shownIn(rich, ofKind(rich.updates, "tool_call")[1]!.toolCallId)).toEqual([diff]);
  });

  it("takes files and images along, calls skills by their names, and thinks aloud", async () => {
    const skill = join(home, ".agents/skills/greet");
    mkdirSync(skill, { recursive: true });
    writeFileSync(
      join(skill, "SKILL.md"),
      "---\nname: greet\ndescription: Greets people\n---\nSay hello to $ARGUMENTS.",
    );
    script = [thinks("A picture of Ada.", "Hello.")];
    const editor = plain;
    const session = await begin(editor);
    await vi.waitFor(
      () =>
        expect(ofKind(editor.updates, "available_commands_update")[0]?.availableCommands).toMatchObject([
          { name: "plan" },
          { name: "undo" },
          { name: "compact" },
          { name: "fork" },
          { name: "greet", description: "Greets people" },
        ]),
      SLOWLY,
    );
    await editor.prompt(
      session,
      "/greet Ada",
      { type: "resource", resource: { uri: "file:///notes.md", text: "She likes tea." } },
      { type: "resource_link", name: "b.ts", uri: pathToFileURL(join(dir, "b.ts")).href },
      { type: "image", mimeType: "image/png", data: "aGk=" },
    );
    const message = sent();
    expect(message).toContain("Say hello to Ada");
    expect(message).toContain("She likes tea.");
    expect(message).toContain(`[b.ts](${join(dir, "b.ts")})`);
    expect(message).toContain('{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}');
    expect(ofKind(editor.updates, "agent_thought_chunk").map(({ content }) => content)).toContainEqual({
      type: "text",
      text: "A picture of Ada.",
    });
    expect(ofKind(editor.updates, "session_info_update")[0]?.title).toBe("/greet Ada");
  });

  it("uses the MCP servers that the editor names", async () => {
    script = [calls(["mcp__h__count", {}]), says("Counted.")];
    const editor = plain;
    const { sessionId } = await editor.agent.request(methods.agent.session.new, {
      cwd: dir,
      mcpServers: [
        {
          name: "h",
          command: process.execPath,
          args: [join(process.cwd(), "test/helpers/mcp/hostile-server.mjs")],
          env: [],
        },
      ],
    });
    await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: "auto" });
    await editor.prompt(sessionId, "Count");
    expect(sent()).toContain("calls: 1");
  });

  it("stops on a cancel, leaves nothing running, and continues with the finished work", async () => {
    script = [
      calls(["write_todos", { todos: ["Write", "Wait"] }], write("a"), [
        "execute",
        { command: "touch started; sleep 60" },
      ]),
      says("Where were we?"),
    ];
    const editor = plain;
    const session = await begin(editor, "auto");
    const done = editor.prompt(session, "Write and wait");
    await vi.waitFor(() => expect(ends(editor)["call_2"]).toBe("completed"), SLOWLY);
    await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
    await editor.agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await done).toEqual({ stopReason: "cancelled" });
    expect(ends(editor)).toEqual({ call_2: "completed", call_3: "failed" });
    await editor.prompt(session, "Go on");
    // What had finished is not forgotten, and what had not is said.
    expect(sent()).toContain("/a");
    expect(sent()).toContain("Not finished: the user stopped the run.");
    await rich.agent.request(methods.agent.session.load, { sessionId: session, cwd: dir, mcpServers: [] });
    expect(JSON.stringify(ofKind(rich.updates, "plan").at(-1))).toContain("Write");
    expect(await editor.prompt(session, "And?")).toEqual({ stopReason: "end_turn" });
  });

  it("can be asked something else while a plan is open", async () => {
    script = [
      calls(["write_todos", { todos: ["Read", "Build"] }], ["ask_clarification", { question: "How?" }]),
      says("It is a project."),
    ];
    const editor = plain;
    const session = await begin(editor);
    await editor.prompt(session, "Build");
    await editor.prompt(session, "By hand");
    script = [says("An answer.")];
    editor.said();
    await editor.prompt(session, "What is this?");
    expect(editor.said()).toBe("An answer.");
    expect(script).toEqual([]);
  });

  it("appears in the thread list, and another process opens a killed session whole", async () => {
    script = [
      calls(["write_todos", { todos: ["Write", "Wait"] }]),
      // A step of its own: it is saved once the next one begins.
      calls(write("a")),
      calls(["execute", { command: "touch started; sleep 60" }]),
    ];
    const editor = await open({ flags: ["--mode", "auto"] });
    const empty = await begin(editor);
    const session = await begin(editor);
    const done = editor.prompt(session, "Write and wait").catch(() => undefined);
    await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
    editor.child.kill("SIGKILL");
    // Its output ends before it is gone, and it holds the thread until then.
    await Promise.all([done, editor.end()]);
    const listed = await holdfast("threads");
    expect(listed.stdout).toMatch(new RegExp(`^${empty} +done `, "m"));
    expect(listed.stdout).toMatch(new RegExp(`^${session} .*Write and wait$`, "m"));

    const other = plain;
    const { sessions } = await other.agent.request(methods.agent.session.list, { cwd: dir });
    expect(sessions.map(({ sessionId, title }) => [sessionId, title])).toEqual([[session, "Write and wait"]]);
    const place = { cwd: dir, mcpServers: [] };
    await other.agent.request(methods.agent.session.resume, { sessionId: empty, ...place });
    const opened = await other.agent.request(methods.agent.session.load, { sessionId: session, ...place });
    expect(opened.modes?.currentModeId).toBe("auto");
    expect(ofKind(other.updates, "user_message_chunk").map(({ content }) => content)).toEqual([
      { type: "text", text: "Write and wait" },
    ]);
    expect(
      ofKind(other.updates, "plan")
        .at(-1)
        ?.entries.map(({ content }) => content),
    ).toEqual(["Write", "Wait"]);
    expect(Object.values(ends(other))).toEqual(["completed", "failed"]);
    script = [says("Going on.")];
    await other.prompt(session, "Go on");
    expect(other.said()).toBe("Going on.");

    await other.agent.request(methods.agent.session.delete, { sessionId: session });
    const gone = other.agent.request(methods.agent.session.load, { sessionId: session, ...place });
    await expect(gone).rejects.toThrow(/not found/i);
  });

  it("explains a missing folder and a failing model, and a cancel ends all prompts", async () => {
    const { agent } = plain;
    const nowhere = agent.request(methods.agent.session.new, { cwd: "nowhere", mcpServers: [] });
    await expect(nowhere).rejects.toThrow("cwd: nowhere is no directory; give an absolute path.");
    const session = await begin(plain);
    script = [{ status: 401, body: { error: { message: "Incorrect API key" } } }];
    await expect(plain.prompt(session, "Hello")).rejects.toThrow(/key/);
    script = [calls(["execute", { command: "touch started; sleep 60" }])];
    const done = plain.prompt(session, "Wait");
    await vi.waitFor(() => expect(existsSync(join(dir, "started"))).toBe(true), SLOWLY);
    const second = plain.prompt(session, "Hello");
    await agent.notify(methods.agent.session.cancel, { sessionId: session });
    expect(await Promise.all([done, second])).toEqual([
      { stopReason: "cancelled" },
      { stopReason: "cancelled" },
    ]);
  });
});
