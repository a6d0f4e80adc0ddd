import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Screen } from "./screen.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const call = (name: string, args: object): FixtureResponse => ({
  toolCalls: [{ name, arguments: JSON.stringify(args) }],
});
const PLAN = call("write_todos", { todos: ["Dig", "Plant", "Water"] });
const done = (ids: string) => call("update_todos", { done: ids });
/** Completes the rest when it has heard of the edit. */
const doneWhenTold = (request: string) => (request.includes("Water daily") ? done("2,3") : undefined);
const DONE: FixtureResponse = { content: "Done." };

const server = new LLMock({ port: 0, host: "127.0.0.1" });
/** The answers of the model, each when it may be given. Where it has none to a request it goes on working. */
let script: (
  | FixtureResponse
  | Promise<FixtureResponse>
  | ((request: string) => FixtureResponse | undefined)
)[] = [];
let requests: string[] = [];
let home: string;
let children: ChildProcess[] = [];

beforeAll(async () => {
  server.on({ toolName: "ls" }, (request) => {
    const text = JSON.stringify(request);
    requests.push(text);
    const [next] = script;
    const answer = typeof next === "function" ? next(text) : next;
    if (next !== undefined && answer === undefined) return call("ls", { path: `/${requests.length}` });
    script = script.slice(1);
    return answer ?? { error: { message: "The script is over." }, status: 500 };
  });
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-plan-edit-"));
  requests = [];
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(home, { recursive: true, force: true });
});

const environment = (more: Record<string, string> = {}): Record<string, string> => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai:gpt-5.1",
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: `${server.url}/v1`,
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

async function until(hasHappened: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!hasHappened()) {
    if (Date.now() > deadline) throw new Error(`Nothing happened: ${hasHappened.toString()}`);
    await sleep(20);
  }
}

function gate(): { open: () => void; after: (response: FixtureResponse) => Promise<FixtureResponse> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open: () => open(), after: (response) => opened.then(() => response) };
}

const shownPlan = async (): Promise<string> => {
  const show = start(["show", "t"]);
  await show.exit;
  return show.output.out;
};
/** An editor that puts one text in the place of another. */
const replacing = (from: string, to: string): Record<string, string> => ({
  EDITOR: `sed -i 's/${from}/${to}/'`,
});
const DAILY = replacing("#3: Water", "#3: Water daily");

/** A run whose second model call lasts until the gate opens, and an edit that waits for it. */
async function waitingEdit(...rest: typeof script) {
  const { open, after } = gate();
  script = [PLAN, after(done("1")), ...rest];
  const run = start(["run", "--thread", "t", "Go"]);
  await until(() => requests.length === 2);
  const edit = start(["plan", "edit", "t"], DAILY);
  await until(() => edit.output.out.includes("Waiting for the step to end"));
  return { run, edit, open };
}

describe("the plan of a thread that another process runs", () => {
  it("is edited between two steps, and the model hears of it", async () => {
    const { run, edit, open } = await waitingEdit(doneWhenTold, DONE);
    expect(edit.output.out).toContain("t is running; your changes are made between two of its steps.");
    open();
    expect(await edit.exit).toBe(0);
    expect(edit.output.out).toContain('3 has content "Water daily"');
    expect(await run.exit).toBe(0);
    expect(await shownPlan()).toContain("[x] #3: Water daily");
  });

  it("is edited by the editor when the run is killed", async () => {
    const { run, edit } = await waitingEdit();
    run.child.kill("SIGKILL");
    expect(await edit.exit).toBe(0);
    expect(await shownPlan()).toContain("[ ] #3: Water daily");
    script = [done("1,2,3"), DONE];
    expect(await start(["resume", "t"]).exit).toBe(0);
    expect(requests.at(-2)).toContain("Water daily");
  });

  it("is edited once when the editor is killed", async () => {
    const { run, edit, open } = await waitingEdit(doneWhenTold, DONE);
    edit.child.kill("SIGKILL");
    await edit.exit;
    open();
    expect(await run.exit).toBe(0);
    expect(await shownPlan()).toContain("[x] #3: Water daily");
  });

  it("stays as it is when the edit is withdrawn, and the text is kept", async () => {
    const { run, edit, open } = await waitingEdit(done("2,3"), DONE);
    edit.child.kill("SIGINT");
    expect(await edit.exit).toBe(130);
    const [, file] = /The edit was withdrawn\. Your text is in (\S+)\.\n$/.exec(edit.output.err)!;
    expect(readFileSync(file!, "utf8")).toContain("#3: Water daily");
    rmSync(join(file!, ".."), { recursive: true });
    open();
    expect(await run.exit).toBe(0);
    expect(await shownPlan()).toContain("[x] #3: Water\n");
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

  async function begun() {
    script = [PLAN, { content: "Stop." }, { content: "Stop." }, { content: "Stop." }];
    expect(await start(["run", "--thread", "t", "Go"]).exit).toBe(3);
  }

  /** The agent completes item 1 while the editor is open. */
  async function progress() {
    await until(() => existsSync(join(home, "opened")));
    script = [done("1"), { content: "Stop." }, { content: "Stop." }, { content: "Stop." }];
    expect(await start(["resume", "t"]).exit).toBe(3);
    writeFileSync(join(home, "go"), "");
  }

  it("is refused in one line, and the text is kept", async () => {
    await begun();
    const edit = start(["plan", "edit", "t"], slowEditor());
    await progress();
    expect(await edit.exit).toBe(1);
    const [, file] =
      /^holdfast: The plan was not changed: it has moved on meanwhile\. You changed the same as the agent: 1 is now completed\. Your text is in (\S+)\.\n$/.exec(
        edit.output.err,
      )!;
    expect(readFileSync(file!, "utf8")).toContain("#1: Dig deep");
    rmSync(join(file!, ".."), { recursive: true });
    expect(await shownPlan()).toContain("[x] #1: Dig\n");
  });

  it("is shown with both versions on a terminal, and can be edited again with all that goes together", async () => {
    await begun();
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
    expect(await shownPlan()).toContain("#3: Water daily");
    expect(await shownPlan()).toContain("[x] #1: Dig\n");
  });
});
