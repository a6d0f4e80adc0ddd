import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { isRelease } from "../helpers/runner/rounds.ts";
import { Screen, type ScreenOptions } from "../helpers/terminal/screen.ts";
import { endedOn, onOneScreen } from "../helpers/terminal/shared-process.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const DOWN = "\u001B[B";
const [ENTER, CTRL_C, CTRL_D, CTRL_Z] = ["\r", "\u0003", "\u0004", "\u001A"];
const IDLE = /^> what shall be done/m;

const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: (FixtureResponse | Promise<FixtureResponse>)[] = [];
let home: string;
let screens: Screen[] = [];

beforeAll(async () => {
  server.on({ toolName: "ls" }, () => script.shift() ?? { content: "Done so." });
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-session-"));
  mkdirSync(join(home, "project/src"), { recursive: true });
  writeFileSync(join(home, "project/src/a.ts"), "export const a = 1; // TODO: more\n");
});
afterEach(() => {
  for (const screen of screens) screen.kill();
  screens = [];
  rmSync(home, { recursive: true });
});

function open(command: readonly string[], options: ScreenOptions = {}): Screen {
  const screen = new Screen(command, inProject(options));
  screens.push(screen);
  return screen;
}

/** Sessions one after another. */
function openEach(...sessions: string[][]): Screen {
  const screen = onOneScreen(
    sessions.map((args) => ({ args })),
    inProject(),
  );
  screens.push(screen);
  return screen;
}

function inProject({ env, ...options }: ScreenOptions = {}): ScreenOptions {
  const offline = { HOME: home, HOLDFAST_STATE: join(home, "threads.db"), HOLDFAST_PACE: "0" };
  return { cwd: join(home, "project"), ...options, env: { ...offline, HOLDFAST_MODEL: "offline", ...env } };
}
const real = (): Record<string, string> => ({
  HOLDFAST_MODEL: "openai:gpt-5.1",
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: `${server.url}/v1`,
});

it.runIf(isRelease)(
  "a task opens a session that surveys offline, and --continue resumes that session",
  async () => {
    const screen = openEach(["Survey this directory"], ["--continue"], ["--resume"]);
    await screen.see(/Allow it\?[^]*1\. yes[^]*> or type why not/);
    expect(screen.all()).toMatch(/^holdfast · .*project · offline · commands .* · no project files/m);
    expect(screen.all()).toContain("+# Survey");
    screen.type("1");
    await screen.see(/Done \(8\/8/);
    await screen.see(IDLE);
    expect(readFileSync(join(home, "project/survey.md"), "utf8")).toContain("a.ts");
    screen.type(CTRL_D);
    await screen.until(() => screen.all().includes("continuing"), "the second session");
    const thread = /^(survey-this-directory-\w+); continue with holdfast --continue/m.exec(screen.all())?.[1];
    expect(screen.all()).toContain(`continuing ${thread}`);
    await screen.see(IDLE);
    screen.type(CTRL_C + CTRL_C);
    await screen.see(/Which thread\?\n❯ 1\. survey-this/);
    screen.type(ENTER);
    await screen.until(
      () => screen.all().split("continuing survey-this-directory-").length === 3,
      "the thread",
    );
    await screen.see(IDLE);
    screen.type(CTRL_D);
    const ended = await endedOn(screen);
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(screen.hasCursor).toBe(true);
    for (const { out } of ended) expect(out).toContain("\u001B[?2004l");
  },
);

it("a first start asks for provider, key and model, and never shows the key", async () => {
  script = [{ content: "Good day." }, { content: "Still here." }];
  const env = { HOLDFAST_MODEL: "", HOLDFAST_KEYS: "file", OPENAI_BASE_URL: `${server.url}/v1` };
  const screen = open([process.execPath, MAIN], { env });
  await screen.see(/No model is set up yet\. Which provider\?/);
  screen.type(DOWN);
  await screen.see(/● OpenAI/);
  screen.type(ENTER);
  await screen.see(/◆ +Key of OpenAI/);
  screen.type(`sk-secret${ENTER}`);
  await screen.see(/◆ +Which model\?/);
  screen.type(ENTER);
  await screen.see(/^holdfast · .*project · openai:/m);
  await screen.see(IDLE);
  screen.type(`Say something${ENTER}`);
  await screen.see(/Good day\./);
  await screen.see(IDLE);

  // Another one, from within.
  screen.type(`/login openai${ENTER}`);
  await screen.see(/◆ +Key of OpenAI/);
  screen.type(`sk-other${ENTER}`);
  await screen.see(/◆ +Which model\?/);
  screen.type(ENTER);
  await screen.see(/answers from now on/);
  screen.type(`And again${ENTER}`);
  await screen.see(/Still here\./);
  screen.type(CTRL_D);
  expect(await screen.exit).toBe(0);
  expect(screen.all()).not.toMatch(/sk-secret|sk-other/);
  expect(readFileSync(join(home, ".config/holdfast/keys.json"), "utf8")).toContain("sk-other");
  expect(readFileSync(join(home, "threads.db")).includes("sk-secret")).toBe(false);
});

const SIZES = [
  [80, 24],
  [40, 10],
  [200, 60],
] as const;

it.each(isRelease ? SIZES : SIZES.slice(0, 1))(
  "a session of size %ix%i handles text, consent, plans, stops and commands",
  async (columns, rows) => {
    script = [{ content: "# Title\n\nSome **bold** words." }, { content: "漢字 read." }];
    const command = `"${process.execPath}" "${MAIN}"; IFS= read -r -t 0.3 left; echo "left:[$left]"`;
    const screen = open(["bash", "-c", command], { columns, rows, env: real() });
    // Typed before it is ready.
    screen.type(`Say something${ENTER}`);
    await screen.see(/Some bold words\./);
    expect(screen.all()).toContain("Title\n\nSome bold words.");
    const long = Array.from({ length: 5000 }, (_, at) => `line ${at}`).join("\n");
    screen.type(`\u001B[200~${long.replaceAll("\n", "\r")}\u001B[201~`);
    await screen.see(/> \[pasted #1: 5,000 lines\]/);
    screen.resize(columns + 3, rows + 2);
    screen.type(ENTER);
    await screen.see(/漢字 read\./);
    expect(JSON.stringify(server.getLastRequest()?.body)).toContain("line 4998\\nline 4999");

    // A write is a diff, allowed for good by its folder; a command stands as it would be typed.
    script = [
      tool("write_file", { file_path: "/src/b.ts", content: "export const b = 2;\n" }),
      tool("write_file", { file_path: "/src/c.ts", content: "export const c = 3;\n" }),
      tool("execute", { command: "echo said; exit 3" }),
      { content: "| a | b |\n|---|---|\n| one | two |" },
    ];
    screen.type(`Write and run${ENTER}`);
    await shows(screen, /write src\/b\.ts \+1 −0 \+export const b = 2;/);
    await screen.see(/Allow it\?[^]*2\. yes, and always writes in/);
    await screen.see(/> or type why not/);
    screen.type("2");
    await shows(screen, /✓ write src\/c\.ts 1 line \$ echo said; exit 3/);
    await screen.see(/> or type why not/);
    screen.type("1");
    await shows(screen, /✗ \$ echo said; exit 3 exit 3.* one two/);
    screen.type("\u000F");
    await shows(screen, /one two .*echo said; exit 3.* said/);

    // The plan, what is queued, and what is stopped.
    script = [tool("write_todos", { todos: ["Dig", "Plant"] }), new Promise(() => {})];
    screen.type(`/mode edits${ENTER}`);
    await screen.see(/^edits/m);
    screen.type(`Make a plan${ENTER}`);
    await screen.see(/Dig[^]*Plant/);
    screen.type(`then this${ENTER}`);
    await screen.see(/queued: then this/);
    screen.type("\u001B");
    await shows(screen, /Interrupted .*\/continue resumes/);
    await screen.see(/> then this/);
    screen.type("\u0015");
    script = [{ content: "Here." }];
    screen.type(`/continue${ENTER}`);
    await shows(screen, /Interrupted .*\/continue .*Here\..*Stopped with open items/);

    // Commands, completed with Tab.
    for (const [typed, expected] of [
      ["/pl\t", /> \/plan \[>\] 1 Dig \[ \] 2 Plant/],
      ["/cost", /> \/cost \w+k tokens read/],
      ["/tools", /> \/tools .*write_file/],
      ["/threads", /> \/threads say-something-\w+ .*\(this one\)/],
      ["/export out.md", /> \/export out\.md Written to .*out\.md/],
      ["/undo", /> \/undo Taken back/],
    ] as const) {
      screen.type(`${typed}${ENTER}`);
      await shows(screen, expected);
    }
    screen.type(`\u0015@src/c\t`);
    await screen.see(/> @src\/c\.ts/);
    screen.type("\u0015");
    expect(readFileSync(join(home, "project/out.md"), "utf8")).toContain("Write and run");
    screen.type(`/quit${ENTER}rm -rf /${ENTER}`);
    await screen.see(/left:\[\]/);
    expect(await screen.exit).toBe(0);
  },
);

function tool(name: string, args: object): FixtureResponse {
  return { toolCalls: [{ name, arguments: JSON.stringify(args) }] };
}

/** All that was written, as if the terminal had no width. */
function flat(screen: Screen): string {
  return screen.all().replaceAll(/\s+/g, " ");
}

async function shows(screen: Screen, what: RegExp): Promise<void> {
  await screen.until(() => what.test(flat(screen)), `${what}`);
}

it.runIf(isRelease)(
  "a session asks for trust, shows missing isolation, and --continue asks again",
  async () => {
    writeFileSync(join(home, "project/AGENTS.md"), "Be brief.");
    const screen = openEach(
      ["--sandbox", "never", "--mode", "auto", "Survey this directory"],
      ["--continue"],
      ["--continue", "--mode", "auto"],
    );
    await screen.see(/Do you trust .*project\?/);
    screen.type(ENTER);
    await screen.see(/Done \(8\/8/);
    await screen.see(/^auto \(shift-tab\)/m);
    expect(screen.all()).toMatch(/^holdfast · .*commands not isolated · read AGENTS\.md/m);
    expect(screen.all()).toContain("they run with your rights, and none is asked for.");
    screen.type(CTRL_D);
    await screen.see(/^ask \(shift-tab\)/m);
    expect(screen.all()).toContain("The thread was in mode auto");
    screen.type(CTRL_D);
    await screen.see(/^auto \(shift-tab\)/m);
    screen.type(CTRL_D);
    expect((await endedOn(screen)).map(({ code }) => code)).toEqual([0, 0, 0]);
  },
);

it("a session shows plain lines on a terminal without other features", async () => {
  const screen = open([process.execPath, MAIN], { env: { TERM: "dumb" } });
  await screen.see(/^> $/m);
  screen.type(`Survey this directory${ENTER}`);
  await screen.see(/Allow it\?.*\n {2}1\. yes/);
  screen.type(`1${ENTER}`);
  await screen.see(/Done \(8\/8/);
  screen.type(`/quit${ENTER}`);
  expect(await screen.exit).toBe(0);
  expect(screen.raw).not.toContain("\u001B");
});

it("a session is suspended by Ctrl-Z and comes back with the typed text", async () => {
  const screen = open(["bash", "--norc", "--noprofile", "-i"], { env: { PS1: "shell$ " } });
  await screen.see(/shell\$/);
  screen.type(`"${process.execPath}" "${MAIN}"${ENTER}`);
  await screen.see(IDLE);
  screen.type("half a thought");
  await screen.see(/> half a thought/);
  screen.type(CTRL_Z);
  await screen.see(/Stopped[^]*shell\$/);
  screen.type(`fg${ENTER}`);
  await screen.see(/fg\n[^]*> half a thought/);
  screen.type(CTRL_C);
  await screen.see(IDLE);
  screen.type(CTRL_D);
  await screen.see(/shell\$ *$/);
  expect(screen.hasCursor).toBe(true);
});
