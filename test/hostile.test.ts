import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createRunAgent } from "../src/runs/agent.ts";
import { taskInput } from "../src/runs/drive.ts";
import { DEFAULT_SETTINGS } from "../src/runs/settings.ts";
import { sqliteSaver } from "../src/storage/index.ts";
import { callTool, ScriptedModel } from "../src/testing/index.ts";
import { HOSTILE, left } from "./hostile.ts";
import { inPipes } from "./in-pipes.ts";
import { run } from "./run.ts";
import { Screen } from "./screen.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const ENTER = "\r";
/** As much of it as a line of Markdown, the id of an item and the name of a file may hold. */
const EVIL_LINE = HOSTILE.replaceAll(/[\r\u2028\u2029]/g, "");
const [EVIL_ID, EVIL_NAME] = ["evil\u001B]0;x\u0007\u202E", "evil\u202Etxt.\u200Bmd\u2066"];

const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: FixtureResponse[] = [];
let home: string;
let screens: Screen[] = [];

beforeAll(async () => {
  server.on({ toolName: "ls" }, () => script.shift() ?? { error: { message: HOSTILE }, status: 400 });
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

/** The same in a process of its own: a client of a model may write, too, and an editor has its variables from there. */
const inProcess = (args: readonly string[], env: Env = {}) =>
  run(process.execPath, [MAIN, ...args], { cwd: join(home, "work"), env: environment(env) });

function onTerminal(args: readonly string[], env: Env = {}): Screen {
  const command = [process.execPath, MAIN, ...args];
  const screen = new Screen(command, { cwd: join(home, "work"), env: environment(env) });
  screens.push(screen);
  return screen;
}

/** Runs a command in pipes and, in a process of its own, on a terminal, and says what is left of hostile text there. */
async function leftBy(args: readonly string[], env: Env = {}): Promise<string[]> {
  const { out, err } = await inPipe(args, env);
  const screen = onTerminal(args, env);
  await screen.exit;
  expect(out + err).toContain("evil");
  expect(screen.raw).toContain("evil");
  return [...left(out), ...left(err), ...left(screen.raw)];
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
  const TASK = ["run", "--dir", ".", `Do ${HOSTILE}`];

  it("are harmless in lines and events, and so is the model's error at the end", async () => {
    for (const flags of [[], ["--json"]]) {
      script = [...WORK];
      const done = await inProcess([...TASK, ...flags]);
      // With nothing left in the script the server fails, in hostile words.
      const failed = await inProcess([...TASK, ...flags]);
      expect(done.stdout).toContain("Second evil");
      expect(failed.stdout).toMatch(/rejected the request \(400\): evil/);
      expect([done, failed].flatMap(({ stdout, stderr }) => left(stdout + stderr))).toEqual([]);
    }
  });

  it("are exact in a pipe that asks for the answer alone", async () => {
    script = [{ content: HOSTILE }];
    expect(await inProcess([...TASK, "--quiet"])).toMatchObject({ stdout: `${HOSTILE}\n`, stderr: "" });
    const failed = await inProcess([...TASK, "--quiet"]);
    expect(failed.stderr).toContain("evil");
    expect(left(failed.stderr)).toEqual([]);
    script = [{ content: HOSTILE }];
    const screen = onTerminal([...TASK, "--quiet"]);
    expect(await screen.exit).toBe(0);
    expect(screen.raw).toContain("evil");
    expect(left(screen.raw)).toEqual([]);
  });

  it("are harmless on a terminal, also in a question", async () => {
    script = [
      call("ask_clarification", { question: HOSTILE, context: HOSTILE, options: [HOSTILE, "no"] }),
      ...WORK,
    ];
    const screen = onTerminal([...TASK, "--ask", "write_file", "--approve", "first"]);
    await screen.see(/Your answer/);
    screen.type(ENTER);
    await screen.see(/Work on this plan\?/);
    screen.type(ENTER);
    await screen.see(/Allow this\?/);
    // What nobody would see is shown where consent is asked for.
    expect(screen.all().replaceAll("\n", "")).toContain(String.raw`"/evil\u202etxt.\u200bmd\u2066"`);
    screen.type(ENTER);
    await screen.exit;
    expect(screen.all()).toMatch(/evil/);
    expect(left(screen.raw)).toEqual([]);
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
  });

  it("is listed and shown harmless, and exactly where another program reads it", async () => {
    expect(await leftBy(["threads"])).toEqual([]);
    expect(await leftBy(["threads", "--json"])).toEqual([]);
    expect(await leftBy(["show", ID, "--format", "json"])).toEqual([]);
    for (const args of [[], ["--format", "markdown"], ["--format", "mermaid"], ["--answer"], ["--files"]]) {
      const screen = onTerminal(["show", ID, ...args]);
      expect(await screen.exit).toBe(0);
      expect(screen.raw).toContain("evil");
      expect(left(screen.raw)).toEqual([]);
    }
    const file = await inPipe(["show", ID, "--file", `/${EVIL_NAME}`]);
    expect(file.out).toBe(`${HOSTILE}\n`);
    const json = JSON.parse((await inPipe(["show", ID, "--format", "json"])).out) as object;
    expect(json).toMatchObject({ id: ID, answer: HOSTILE, title: HOSTILE });
  });

  it("is named harmless in errors, in hints and when it is deleted", async () => {
    expect(await leftBy(["show", ID, "--file", HOSTILE])).toEqual([]);
    expect(await leftBy(["show", `${HOSTILE}?`])).toEqual([]);
    expect(await leftBy(["run", "--thread", ID, "Go on"])).toEqual([]);
    script = [call("ls", {})];
    const resumed = await inProcess(["resume", ID, "--model", "openai:gpt-5.1", "--max-turns", "1"]);
    expect(resumed.stdout).toContain("Go on with: holdfast resume $'../evil");
    expect(left(resumed.stdout + resumed.stderr)).toEqual([]);
    const deleted = onTerminal(["rm", ID]);
    expect(await deleted.exit).toBe(0);
    expect(deleted.raw).toContain("evil");
    expect(left(deleted.raw)).toEqual([]);
    expect((await inPipe(["threads"])).out).toContain("No threads yet.");
  });

  it("has its plan edited in a file of another name, and says harmlessly what was wrong", async () => {
    writeFileSync(
      join(home, "editor.sh"),
      `#!/bin/sh\necho "$1" > "$HOME/seen"; printf '%s' "$TEXT" > "$1"\n`,
      {
        mode: 0o755,
      },
    );
    const env = { EDITOR: join(home, "editor.sh") };
    const wrong = await inProcess(["plan", "edit", ID], {
      ...env,
      TEXT: `- [ ] What\n  - estimate: ${EVIL_LINE}`,
    });
    expect(wrong.stderr).toContain("evil");
    expect(left(wrong.stderr)).toEqual([]);
    expect(readFileSync(join(home, "seen"), "utf8")).toMatch(/holdfast-\w+\/plan\.md\n$/);

    const screen = onTerminal(["plan", "edit", ID], {
      ...env,
      TEXT: `- [ ] What\n  - estimate: ${EVIL_LINE}`,
    });
    await screen.see(/Edit it again\?/);
    screen.type("n");
    expect(await screen.exit).toBe(2);
    expect(left(screen.raw)).toEqual([]);

    const changed = await inProcess(["plan", "edit", ID], { ...env, TEXT: `- [ ] ${EVIL_LINE} anew` });
    expect(changed.stdout).toContain("evil");
    expect(left(changed.stdout)).toEqual([]);
    expect(existsSync(join(home, "work/made"))).toBe(false);
  });
});

it("hostile arguments and variables are harmless in complaints and in doctor's findings", async () => {
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
  expect(await leftBy(["doctor"], env)).toEqual([]);
  expect(await leftBy(["doctor", "--json"], env)).toEqual([]);
  expect(await leftBy(["doctor"], { HOLDFAST_MODEL: HOSTILE })).toEqual([]);
});
