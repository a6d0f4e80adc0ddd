import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { isRelease } from "../helpers/runner/rounds.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { Screen, type ScreenOptions } from "../helpers/terminal/screen.ts";
import { endedOn, onOneScreen, type Command } from "../helpers/terminal/shared-process.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const [DOWN, ENTER, CTRL_C] = ["\u001B[B", "\r", "\u0003"];

let home: string;
let screens: Screen[] = [];
const environment = (): Record<string, string> => ({
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_PACE: "0.2",
});

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-terminal-"));
});

afterEach(() => {
  for (const screen of screens) screen.kill();
  screens = [];
  rmSync(home, { recursive: true });
});

function open(args: readonly string[], options: ScreenOptions = {}): Screen {
  return started([process.execPath, MAIN, ...args], options);
}

function started(command: readonly string[], options: ScreenOptions = {}): Screen {
  const env = { ...environment(), ...options.env };
  const screen = new Screen(command, { cwd: home, ...options, env });
  screens.push(screen);
  return screen;
}

/** Commands one after another, on one terminal. */
function openEach(...commands: Command[]): Screen {
  const screen = onOneScreen(commands, { cwd: home, env: environment() });
  screens.push(screen);
  return screen;
}

/** What a command says of the thread afterwards. */
const holdfast = (...args: string[]) =>
  inPipes(args, { cwd: home, env: { ...process.env, ...environment() } });

describe("the offline survey on a terminal", () => {
  const SURVEY = ["run", "--dir", "project", "--thread", "survey", "Survey this directory"];

  beforeEach(() => {
    for (const folder of ["src", "docs", "wide"])
      mkdirSync(join(home, "project", folder), { recursive: true });
    writeFileSync(join(home, "project/src/a.ts"), "export const a = 1; // TODO: more\n");
    writeFileSync(join(home, "project/src/b.ts"), "export const a = 1; // TODO: more\n");
    writeFileSync(join(home, "project/wide/漢字の名前.md"), "# 漢字\n");
  });

  it("shows the plan below the text to its end, also without colors and in plain lines", async () => {
    const poem = ["run", "--model", "offline", "Write a poem"];
    const bare = ["run", "--dir", "project", "--thread", "bare", "Survey this directory"];
    const screen = openEach(
      { args: SURVEY },
      { args: poem, env: { CI: "1" } },
      { args: poem, env: { TERM: "dumb" } },
      { args: bare, env: { NO_COLOR: "1" } },
    );
    await screen.see(/\[>\] 1 .*\n(?:.*\n)*.*0\/\d/);
    await screen.see(/Done \(\d+\/\d+/);
    const report = readFileSync(join(home, "project/survey.md"), "utf8");
    const ended = await endedOn(screen);
    expect(ended.map(({ code }) => code)).toEqual([0, 1, 1, 0]);
    expect(screen.hasCursor).toBe(true);
    // What was live is gone, and each survey has left its plan once.
    expect(screen.all()).not.toContain("[>]");
    expect(screen.all().match(/\[x\] 1 /g)).toHaveLength(2);
    expect(screen.all().match(/Done \((\d+)\/\1/g)).toHaveLength(2);
    expect(report).toContain("a.ts");
    for (const { out } of ended.slice(1, 3)) {
      expect(out).not.toContain("\u001B");
      expect(out).toContain("with offline");
    }
    expect(ended[3]!.out).toContain("[>] 1 ");
    // oxlint-disable-next-line no-control-regex -- colours are control characters
    expect(ended[3]!.out).not.toMatch(/\u001B\[[\d;]*m/);
  });

  it("stops at Ctrl-C, says how to resume, and resumes; a second Ctrl-C quits at once", async () => {
    const screen = openEach(
      { args: SURVEY },
      { args: ["threads"], env: { NO_COLOR: "1" } },
      { args: ["show", "survey"], env: { NO_COLOR: "1" } },
      { args: ["resume"], env: { HOLDFAST_PACE: "0" } },
      { args: ["run", "--dir", "project", "--thread", "other", "Survey this directory"] },
    );
    await screen.see(/\[x\] 1 /);
    screen.type(CTRL_C);
    for (const count of [1, 3, 4])
      await screen.until(
        () => screen.raw.split("[ended with").length > count,
        `the end of ${count} commands`,
      );
    // By then the plan of the last one has been saved.
    const last = () => screen.raw.slice(screen.raw.lastIndexOf("[ended with"));
    await screen.until(() => last().includes("[x] 1 "), "an item of the last plan that is done");
    screen.type(CTRL_C + CTRL_C);
    const [first, listed, shown, resumed, quit] = await endedOn(screen);
    // Without a word behind it where the process was ended with it.
    expect(quit?.code ?? (await screen.exit)).toBe(130);
    expect((await holdfast("show", "other")).out).toMatch(/completed\)/);

    expect(first!.code).toBe(130);
    expect(first!.out).toContain("Continue with: holdfast resume survey");
    expect(first!.out.lastIndexOf("\u001B[?25h")).toBeGreaterThan(first!.out.lastIndexOf("\u001B[?25l"));
    const [, done, all] = /Interrupted \((\d+)\/(\d+)/.exec(screen.all())!;
    expect(listed!.out).toMatch(new RegExp(`survey +stopped +${done}/${all}`));
    expect(shown!.out).toContain(`(${done}/${all} completed)`);
    expect(resumed!.code).toBe(0);
    expect(resumed!.out).toContain("[x] 1 ");
    expect(screen.all()).toMatch(/Done \((\d+)\/\1/);
  });

  it.runIf(isRelease)(
    "follows the terminal through all widths, and leaves nothing on the screen",
    async () => {
      const screen = open(SURVEY, { columns: 100, rows: 30, env: { HOLDFAST_PACE: "0.5" } });
      await screen.see(/\[>\] 1 /);
      for (const [columns, rows] of [
        [40, 20],
        [12, 6],
        [120, 40],
      ] as const) {
        screen.resize(columns, rows);
        await screen.frames(5);
        // One plan, and nothing of an older one above it, which would stay; a frame may be half drawn at this moment.
        const plans = (): number[] =>
          [/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /u, /^\[>\]/].map((row) => screen.lines().filter((line) => row.test(line)).length);
        await expect.poll(plans, { timeout: 120_000 }).toEqual([1, 1]);
      }
      expect(await screen.exit).toBe(0);
      const rows = screen.lines();
      expect(rows.filter((row) => row.startsWith("[x] 1 "))).toHaveLength(1);
      expect(rows.filter((row) => row.startsWith("Done"))).toHaveLength(1);
    },
  );

  it.runIf(isRelease)(
    "works on a terminal that does not know its size, and asks in a line there",
    async () => {
      const command = ["sh", "-c", 'stty cols 0 rows 0; exec "$@"', "sh", process.execPath, MAIN];
      const screen = started([...command, ...SURVEY, "--approve", "first"]);
      await screen.see(/Work on this plan\?\s+1\. yes[^]*or type what to change > /);
      screen.type("1\r");
      expect(await screen.exit).toBe(0);
      expect(screen.all()).toMatch(/Done \((\d+)\/\1/);
    },
  );

  it.runIf(isRelease)(
    "asks for approval, follows the edited plan, and keeps an unanswered question",
    async () => {
      const editor = join(home, "editor.sh");
      writeFileSync(editor, `#!/bin/sh\ncp "$1" seen.md; sed -i 's/\\[ \\] #4/[-] #4/' "$1"\n`, {
        mode: 0o755,
      });
      const asking = (thread: string) => ({
        args: ["run", "--dir", "project", "--thread", thread, "--approve", "first", "Survey this directory"],
        env: { EDITOR: editor, HOLDFAST_PACE: "0" },
      });
      const screen = openEach(
        asking("edited"),
        asking("told"),
        asking("survey"),
        { args: ["threads"], env: { NO_COLOR: "1" } },
        { args: ["resume", "survey"], env: { HOLDFAST_PACE: "0" } },
      );
      /** Waits for the question of a command, by its number. */
      const asked = (at: number) =>
        screen.until(() => {
          const parts = screen.raw.split("[ended with");
          return parts.length === at + 1 && parts[at]!.includes("Work on this plan?");
        }, `the question of command ${at}`);
      await asked(0);
      await screen.see(/Work on this plan\?[^]*❯/);
      screen.type(DOWN + ENTER);
      await asked(1);
      expect(readFileSync(join(home, "seen.md"), "utf8")).toMatch(/^<!-- One item per line/);
      const shown = await holdfast("show", "edited");
      expect(shown.out).toContain("[-] #4");
      expect(shown.out).not.toMatch(/\[[ >]\]/);
      expect(readFileSync(join(home, "project/survey.md"), "utf8")).toContain(
        "- Find leftover markers (it was cancelled in the plan)",
      );

      screen.kill("SIGTERM");
      await asked(2);
      screen.type(CTRL_C);
      await asked(4);
      await screen.until(
        () => screen.raw.split("[ended with")[4]!.includes("❯"),
        "a question that can be answered",
      );
      screen.type(ENTER);
      const ended = await endedOn(screen);
      expect(ended.map(({ code }) => code)).toEqual([0, 130, 130, 0, 0]);
      expect(ended[1]!.out).toContain("Continue with: holdfast resume told");
      expect(ended[3]!.out).toMatch(/survey +waiting/);
    },
  );
});

describe("a model over HTTP on a terminal", () => {
  const server = new LLMock({ port: 0, host: "127.0.0.1" });
  let script: FixtureResponse[] = [];
  beforeAll(async () => {
    server.on({ toolName: "ls" }, () => script.shift() ?? { content: "Done." });
    await server.start();
  });
  afterAll(async () => {
    await server.stop();
  });
  const call = (name: string, args: object): FixtureResponse => ({
    toolCalls: [{ name, arguments: JSON.stringify(args) }],
  });

  it("asks for permission and for words, and continues with both", async () => {
    script = [
      call("ask_clarification", { question: "Which bed?", options: ["left", "right"] }),
      call("write_file", { file_path: "/bed.md", content: "left" }),
      { content: "Planted on the left." },
    ];
    const env = { OPENAI_API_KEY: "sk-test", OPENAI_BASE_URL: `${server.url}/v1` };
    const flags = ["--model", "openai:gpt-5.1", "--dir", ".", "--ask", "write_file"];
    const screen = open(["run", ...flags, "A garden"], { env });
    await screen.see(/Which bed\?[^]*❯ 1\. left/);
    screen.type(ENTER);
    await screen.see(/write bed\.md \+1[^]*\+left[^]*Allow it\?[^]*or type why not/);
    screen.type("1");
    expect(await screen.exit).toBe(0);
    expect(screen.all()).toContain("Planted on the left.");
    expect(readFileSync(join(home, "bed.md"), "utf8")).toBe("left");
  });
});
