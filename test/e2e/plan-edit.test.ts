import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LLMock } from "@copilotkit/aimock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sqliteSaver, type SqliteSaver } from "../../src/storage/index.ts";
import { callTool, ScriptedModel, type ModelRequestRecord, type Step } from "../../src/testing/index.ts";
import type { Ending } from "../../src/threads/events/ending.ts";
import { createRunAgent } from "../../src/threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../src/threads/prepare/settings.ts";
import { Thread } from "../../src/threads/thread/thread.ts";
import { runGraph, taskInput } from "../helpers/models/run-thread.ts";
import { Screen } from "../helpers/terminal/screen.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const SETTINGS = { ...DEFAULT_SETTINGS, model: "openai:gpt-5.1" };
const TODOS = { todos: ["Dig", "Plant", "Water"] };
const PLAN = callTool("write_todos", TODOS);
const done = (ids: string) => callTool("update_todos", { done: ids, note: "by hand" });
const STOPS: Step[] = ["Stop.", "Stop.", "Stop."];

let home: string;
let saver: SqliteSaver;
let children: ChildProcess[] = [];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-plan-edit-"));
  saver = await sqliteSaver(join(home, "threads.db"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  saver.close();
  rmSync(home, { recursive: true, force: true });
});

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: SETTINGS.model,
  OPENAI_API_KEY: "sk-test",
  ...more,
});

/** A command in a process of its own, with what it has printed. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], { env: environment(env), cwd: home });
  children.push(child);
  const output = { out: "", err: "" };
  child.stdout.on("data", (data: Buffer) => (output.out += data.toString()));
  child.stderr.on("data", (data: Buffer) => (output.err += data.toString()));
  const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, output, exit };
}

/** The agent of the thread, in this process: to commands it is one of another. */
const agentWith = (model: ScriptedModel) =>
  createRunAgent({ settings: SETTINGS, model, checkpointer: saver });

/** Runs the thread in this process. */
function run(
  steps: Step[],
  { input = taskInput("Go", { run: SETTINGS }), ...options }: { loop?: boolean; input?: object | null } = {},
): Promise<Ending> {
  const model = new ScriptedModel(steps, options);
  return runGraph(input, {
    thread: new Thread(agentWith(model), "t"),
    model: { model, name: SETTINGS.model, source: "option" },
    emit: () => {},
    signal: new AbortController().signal,
    answer: () => Promise.resolve(undefined),
  });
}

const plan = async (): Promise<string[]> =>
  (await new Thread(agentWith(new ScriptedModel([])), "t").todos()).map(
    ({ content, status }) => `${content} ${status}`,
  );

async function until(hasHappened: () => boolean): Promise<void> {
  while (!hasHappened()) await sleep(20);
}

/** An editor that puts one text in the place of another. */
const DAILY = { EDITOR: "sed -i 's/#3: Water/#3: Water daily/'" };

/** A run that is in a step until `open` is called, and an edit that waits for it. */
async function waitingEdit(isFinishing: (request: ModelRequestRecord) => boolean) {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = () => resolve();
  });
  const last: Step[] = [done("1,2,3"), "Done."];
  const step: Step = async (request) => {
    if (!request.messages.some(({ type }) => type === "tool")) return PLAN;
    isInStep = true;
    await opened;
    if (isFinishing(request)) return last.shift()!;
    await sleep(20);
    return callTool("ls", { path: `/${crypto.randomUUID()}` });
  };
  let isInStep = false;
  const ending = run([step], { loop: true });
  await until(() => isInStep);
  const edit = start(["plan", "edit", "t"], DAILY);
  await until(() => edit.output.out.includes("Waiting for the step to end"));
  return { ending, edit, open };
}
const hasHeard = ({ messages }: ModelRequestRecord): boolean =>
  messages.some(({ text }) => text.includes("Water daily"));

describe("the plan of a thread that another process runs", () => {
  it("is edited by the editor when the run is killed", async () => {
    const server = new LLMock({ port: 0, host: "127.0.0.1" });
    let requests = 0;
    server.on({ toolName: "ls" }, () => {
      requests += 1;
      const response = { toolCalls: [{ name: "write_todos", arguments: JSON.stringify(TODOS) }] };
      return requests === 1 ? response : new Promise(() => {});
    });
    await server.start();
    const killed = start(["run", "--thread", "t", "Go"], { OPENAI_BASE_URL: `${server.url}/v1` });
    await until(() => requests === 2);
    const edit = start(["plan", "edit", "t"], DAILY);
    await until(() => edit.output.out.includes("Waiting for the step to end"));
    expect(edit.output.out).toContain("t is running; your changes are made between two of its steps.");
    killed.child.kill("SIGKILL");
    expect(await edit.exit).toBe(0);
    expect(edit.output.out).toContain('3 has content "Water daily"');
    expect(await plan()).toEqual(["Dig in_progress", "Plant pending", "Water daily pending"]);
    const told: boolean[] = [];
    const finish: Step = (request) => {
      told.push(hasHeard(request));
      return done("1,2,3");
    };
    expect(await run([finish, "Done."], { input: null })).toMatchObject({ outcome: "done" });
    expect(told).toEqual([true]);
    await server.stop();
  });

  it("is edited once when the editor is killed", async () => {
    const { ending, edit, open } = await waitingEdit(hasHeard);
    edit.child.kill("SIGKILL");
    await edit.exit;
    open();
    expect(await ending).toMatchObject({ outcome: "done" });
    expect(await plan()).toEqual(["Dig completed", "Plant completed", "Water daily completed"]);
  });

  it("stays as it is when the edit is withdrawn, and the text is kept", async () => {
    const { ending, edit, open } = await waitingEdit(() => true);
    edit.child.kill("SIGINT");
    expect(await edit.exit).toBe(130);
    const [, file] = /The edit was withdrawn\. Your text is in (\S+)\.\n$/.exec(edit.output.err)!;
    expect(readFileSync(file!, "utf8")).toContain("#3: Water daily");
    rmSync(join(file!, ".."), { recursive: true });
    open();
    expect(await ending).toMatchObject({ outcome: "done" });
    expect(await plan()).toContain("Water completed");
  });
});

describe("an edit of an item that the agent changes meanwhile", () => {
  /** An editor that waits for a file, then changes item 1; called again, it leaves the text as it is. */
  function slowEditor(): { EDITOR: string } {
    const path = join(home, "editor.sh");
    const lines = [
      "#!/bin/sh",
      `test -e ${home}/again && { cp "$1" ${home}/second; exit 0; }`,
      `touch ${home}/opened`,
      `while ! test -e ${home}/go; do sleep 0.05; done`,
      `sed -i 's/#1: Dig/#1: Dig deep/; s/#3: Water/#3: Water daily/' "$1"`,
      `touch ${home}/again`,
    ];
    writeFileSync(path, `${lines.join("\n")}\n`, { mode: 0o755 });
    return { EDITOR: path };
  }

  beforeEach(async () => {
    await run([PLAN, ...STOPS]);
  });

  /** The agent completes item 1 while the editor is open. */
  async function progress() {
    await until(() => existsSync(join(home, "opened")));
    expect(await run([done("1"), ...STOPS])).toMatchObject({ outcome: "open" });
    writeFileSync(join(home, "go"), "");
  }

  it("is refused in one line, and the text is kept", async () => {
    const edit = start(["plan", "edit", "t"], slowEditor());
    await progress();
    expect(await edit.exit).toBe(1);
    const [, file] =
      /^holdfast: The plan was not changed: it has moved on meanwhile\. You changed the same as the agent: .*1 is now completed\. Your text is in (\S+)\.\n$/.exec(
        edit.output.err,
      )!;
    expect(readFileSync(file!, "utf8")).toContain("#1: Dig deep");
    rmSync(join(file!, ".."), { recursive: true });
    expect(await plan()).toContain("Dig completed");
  });

  it("shows both versions on a terminal, and can be edited again after the merge", async () => {
    const screen = new Screen([process.execPath, MAIN, "plan", "edit", "t"], {
      env: environment({ ...slowEditor() }),
      cwd: home,
    });
    await progress();
    await screen.see(/Edit it again/);
    expect(screen.all()).toContain("1 as you want it: - [>] #1: Dig deep");
    expect(screen.all()).toContain("1 as it is now:   - [x] #1: Dig");
    screen.type("y");
    expect(await screen.exit).toBe(0);
    const second = readFileSync(join(home, "second"), "utf8");
    expect(second).toContain("     1: [>] #1: Dig deep\n");
    expect(second).toContain("- [x] #1: Dig\n");
    expect(await plan()).toEqual(["Dig completed", "Plant in_progress", "Water daily pending"]);
  });
});
