import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { sqliteSaver } from "../../src/storage/index.ts";
import { callTool, ScriptedModel } from "../../src/testing/index.ts";
import { createRunAgent } from "../../src/threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../src/threads/prepare/settings.ts";
import { HOSTILE, left } from "../helpers/measure/hostile-text.ts";
import { taskInput } from "../helpers/models/run-thread.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import type { Screen } from "../helpers/terminal/screen.ts";
import { endedOn, inOneProcess, onOneScreen, type Command } from "../helpers/terminal/shared-process.ts";

const ENTER = "\r";
/** As much of it as a line of Markdown, the id of an item and the name of a file may hold. */
const EVIL_LINE = HOSTILE.replaceAll(/[\r\u2028\u2029]/g, "");
const TASK = `Do ${HOSTILE}`;
const [EVIL_ID, EVIL_NAME] = ["evil\u001B]0;x\u0007\u202E", "evil\u202Etxt.\u200Bmd\u2066"];

const server = new LLMock({ port: 0, host: "127.0.0.1" });
/** What the model says in each run of a task; with nothing left the server fails, in hostile words. */
let scripts: FixtureResponse[][] = [];
let script: FixtureResponse[] = [];
let home: string;
let screens: Screen[] = [];

beforeAll(async () => {
  server.on({ toolName: "ls" }, ({ messages }) => {
    if (messages.at(-1)?.content === TASK) script = scripts.shift() ?? [];
    return script.shift() ?? { error: { message: HOSTILE }, status: 400 };
  });
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-hostile-"));
  mkdirSync(join(home, "work"));
});
afterEach(() => {
  for (const screen of screens) screen.kill();
  screens = [];
  rmSync(home, { recursive: true });
});

const environment = (more: Record<string, string>): Record<string, string> => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai:gpt-5.1",
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: `${server.url}/v1`,
  ...more,
});

type Env = Record<string, string>;

const inPipe = (args: readonly string[], env: Env = {}) =>
  inPipes(args, { cwd: join(home, "work"), env: environment(env) });

/** The same in a process of their own: a client of a model may write, too. */
const inProcess = (...commands: (readonly string[])[]) =>
  inOneProcess(
    commands.map((args) => ({ args })),
    { cwd: join(home, "work"), env: environment({}) },
  );

function onTerminal(commands: readonly Command[]): Screen {
  const screen = onOneScreen(commands, { cwd: join(home, "work"), env: environment({}) });
  screens.push(screen);
  return screen;
}

/** Runs commands on a terminal, and says what is left of hostile text there. */
async function leftOnTerminal(
  commands: readonly Command[],
  screen = onTerminal(commands),
  { questions = 0 } = {},
): Promise<string[]> {
  const ended = await endedOn(screen);
  expect(ended).toHaveLength(commands.length);
  for (const { out } of ended) expect(out).toContain("evil");
  // Our own bell rings once for each question.
  const parts = screen.raw.split("\u0007");
  expect(parts).toHaveLength(questions + 1);
  return left(parts.join(""));
}

/** The same in pipes. */
async function leftInPipes(commands: readonly Command[]): Promise<string[]> {
  const found: string[] = [];
  for (const { args, env } of commands) {
    const { out, err } = await inPipe(args, env);
    expect(out + err).toContain("evil");
    found.push(...left(out), ...left(err));
  }
  return found;
}

const call = (name: string, args: object): FixtureResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});

describe("hostile words of a model", () => {
  const TODOS = { todos: [{ id: EVIL_ID, content: HOSTILE }, `Second ${HOSTILE}`] };
  const WORK: FixtureResponse[] = [
    call("write_todos", TODOS),
    call("update_todos", { block: [{ id: EVIL_ID, reason: HOSTILE }] }),
    call(HOSTILE, { [HOSTILE]: HOSTILE }),
    call("write_file", { file_path: `/${EVIL_NAME}`, content: HOSTILE }),
    call("read_file", { file_path: `/${HOSTILE}` }),
    call("ls", {}),
    call("task", { description: HOSTILE, subagent_type: HOSTILE }),
    call("task", { description: HOSTILE, subagent_type: "general-purpose" }),
    { content: HOSTILE },
    { content: `<think>${HOSTILE}</think>${HOSTILE}` },
  ];
  const RUN = ["run", "--dir", ".", TASK];

  it("are harmless in lines, events and errors, and exact in a pipe for the answer", async () => {
    const [json, quiet] = [
      [...RUN, "--json"],
      [...RUN, "--quiet"],
    ];
    scripts = [[...WORK], [], [...WORK], [], [{ content: HOSTILE }], []];
    const ended = await inProcess(RUN, RUN, json, json, quiet, quiet);
    const [exact, failed] = ended.splice(4);
    expect(ended).toHaveLength(4);
    for (const at of [0, 2]) {
      expect(ended[at]!.out).toContain("Second evil");
      expect(ended[at + 1]!.out).toMatch(/rejected the request \(400\): evil/);
    }
    expect(ended.flatMap(({ out, err }) => left(out + err))).toEqual([]);
    expect(exact).toEqual({ code: 0, out: `${HOSTILE}\n`, err: "" });
    expect(failed!.err).toContain("evil");
    expect(left(failed!.err)).toEqual([]);
  });

  it("are harmless on a terminal, also in a question and in the answer alone", async () => {
    scripts = [
      [call("ask_clarification", { question: HOSTILE, context: HOSTILE, options: [HOSTILE, "no"] }), ...WORK],
      [{ content: HOSTILE }],
    ];
    const commands = [
      { args: [...RUN, "--ask", "write_file", "--approve", "first"] },
      { args: [...RUN, "--quiet"] },
    ];
    const screen = onTerminal(commands);
    await screen.see(/Your answer\s+❯/);
    screen.type(ENTER);
    await screen.see(/Work on this plan\?\s+❯/);
    screen.type(ENTER);
    await screen.see(/Allow it\?[^]*or type why not/);
    // What nobody would see is shown where consent is asked for.
    expect(screen.all().replaceAll("\n", "")).toContain(String.raw`evil\u202etxt.\u200bmd\u2066`);
    screen.type("1");
    expect(await leftOnTerminal(commands, screen, { questions: 3 })).toEqual([]);
    expect((await endedOn(screen))[1]).toMatchObject({ code: 0 });
    expect(screen.all()).toMatch(/evil/);
  });
});

describe("a thread of another program, hostile in all it holds", () => {
  const ID = `../${HOSTILE}\n$(touch made)`;

  beforeEach(async () => {
    const saver = await sqliteSaver(join(home, "threads.db"));
    const model = new ScriptedModel([
      callTool("write_todos", { todos: [{ id: EVIL_ID, content: HOSTILE }, "Second"] }),
      callTool("write_file", { file_path: `/${EVIL_NAME}`, content: HOSTILE }),
      HOSTILE,
      HOSTILE,
      HOSTILE,
    ]);
    const settings = { ...DEFAULT_SETTINGS, model: "offline", startedIn: `/${HOSTILE}` };
    const agent = createRunAgent({ settings, model, checkpointer: saver });
    const input = taskInput("Go", { run: settings, title: HOSTILE });
    await agent.graph.invoke(input as never, { configurable: { thread_id: ID } });
    saver.close();
    const editor = join(home, "editor.sh");
    writeFileSync(editor, `echo "$2" > "${home}/seen"; cp "${home}/$1" "$2"\n`);
    writeFileSync(join(home, "wrong"), `- [ ] What\n  - estimate: ${EVIL_LINE}`);
    writeFileSync(join(home, "right"), `- [ ] ${EVIL_LINE} anew`);
  });

  const LISTED = [["threads"], ["threads", "--json"], ["show", ID, "--format", "json"]].map((args) => ({
    args,
  }));
  const WRONG = [
    { args: ["show", ID, "--file", HOSTILE] },
    { args: ["show", `${HOSTILE}?`] },
    { args: ["run", "--thread", ID, "Go on"] },
  ];
  const edit = (text: string) => ({
    args: ["plan", "edit", ID],
    env: { EDITOR: `sh ${join(home, "editor.sh")} ${text}` },
  });

  it("is listed, shown, edited and deleted harmless on a terminal", async () => {
    const shown = [[], ["--format", "markdown"], ["--format", "mermaid"], ["--answer"], ["--files"]];
    const right = [...LISTED, ...shown.map((args) => ({ args: ["show", ID, ...args] }))];
    const commands = [...right, ...WRONG, edit("wrong"), { args: ["rm", ID] }];
    const screen = onTerminal(commands);
    await screen.see(/Edit it again\?/);
    screen.type("n");
    expect(await leftOnTerminal(commands, screen)).toEqual([]);
    const codes = (await endedOn(screen)).map(({ code }) => code);
    expect(codes.slice(0, right.length).filter((code) => code !== 0)).toEqual([]);
    expect(codes.slice(-2)).toEqual([2, 0]);
    expect((await inPipe(["threads"])).out).toContain("No threads yet.");
  });

  it("is listed harmless in a pipe, and exactly where another program reads it", async () => {
    expect(await leftInPipes(LISTED)).toEqual([]);
    const file = await inPipe(["show", ID, "--file", `/${EVIL_NAME}`]);
    expect(file.out).toBe(`${HOSTILE}\n`);
    const json = JSON.parse((await inPipe(["show", ID, "--format", "json"])).out) as object;
    expect(json).toMatchObject({ id: ID, answer: HOSTILE, title: HOSTILE });
  });

  it("is named harmless in errors and in hints", async () => {
    expect(await leftInPipes(WRONG)).toEqual([]);
    script = [call("ls", {})];
    const resumed = await inPipe(["resume", ID, "--model", "openai:gpt-5.1", "--max-turns", "1"]);
    expect(resumed.out).toContain("Continue with: holdfast resume $'../evil");
    expect(left(resumed.out + resumed.err)).toEqual([]);
  });

  it("has its plan edited in a file with a safe name, and reports mistakes harmlessly", async () => {
    const wrong = await inPipe(edit("wrong").args, edit("wrong").env);
    expect(wrong.err).toContain("evil");
    expect(left(wrong.err)).toEqual([]);
    expect(readFileSync(join(home, "seen"), "utf8")).toMatch(/holdfast-\w+\/plan\.md\n$/);
    const changed = await inPipe(edit("right").args, edit("right").env);
    expect(changed.out).toContain("evil");
    expect(left(changed.out)).toEqual([]);
    expect(existsSync(join(home, "work/made"))).toBe(false);
  });
});

it("hostile arguments and variables are harmless in errors and in doctor's findings", async () => {
  for (const args of [
    ["run", "--model", HOSTILE, "x"],
    ["run", "--dir", HOSTILE, "x"],
    ["run", "--thread", HOSTILE, "x"],
    ["run", `--${HOSTILE}`, "x"],
    ["run", "--preset", HOSTILE, "x"],
    ["run", "--ask", HOSTILE, "x"],
    [HOSTILE],
    ["show", HOSTILE],
    ["resume", "--answer", `@${HOSTILE}`],
    ["completion", HOSTILE],
    ["--complete", "completion", HOSTILE, "evil"],
  ]) {
    const { out, err } = await inPipe(args);
    expect([...left(out), ...left(err)]).toEqual([]);
  }
  const env = {
    HOLDFAST_MODEL: `ollama:${HOSTILE}`,
    EDITOR: HOSTILE,
    HOLDFAST_COMMAND: HOSTILE,
    HOLDFAST_STATE: join(home, HOSTILE),
    OLLAMA_HOST: "127.0.0.1:49151",
  };
  const commands = [
    { args: ["doctor"], env },
    { args: ["doctor", "--json"], env },
    { args: ["doctor"], env: { HOLDFAST_MODEL: HOSTILE } },
  ];
  expect(await leftInPipes(commands)).toEqual([]);
  expect(await leftOnTerminal(commands)).toEqual([]);
});
