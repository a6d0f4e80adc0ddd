import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqliteSaver } from "../../src/storage/index.ts";
import { isRelease } from "../helpers/runner/rounds.ts";
import { run } from "../helpers/terminal/run-program.ts";
import { inOneProcess } from "../helpers/terminal/shared-process.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
  mkdirSync(join(home, "project/src"), { recursive: true });
  writeFileSync(join(home, "project/src/a.ts"), "export const a = 1;\n");
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const environment = (): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
});

function holdfast(args: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: home,
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  // A test that closes the pipe does not read from it.
  const out = text(child.stdout).catch(() => "");
  return { child, exit, out, err: text(child.stderr) };
}

const SURVEY = ["run", "--dir", "project", "--thread", "survey", "Survey this directory"];

/** Commands in a process that fails when one of these packages is loaded. */
const without = (packages: readonly string[], ...commands: (readonly string[])[]) =>
  inOneProcess(
    commands.map((args) => ({ args })),
    { cwd: home, env: environment(), node: ["--import", refusing(packages)] },
  );

it("help and version load no LangChain, database or view, which a run needs", async () => {
  const words = [["--help"], ["run", "--help"], ["plan", "edit", "--help"], ["--version"]];
  const [survey, ...printed] = (await without(HEAVY, ...words, SURVEY)).toReversed();
  expect(printed).toHaveLength(words.length);
  for (const { code, out, err } of printed) {
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/holdfast|^\d+\.\d+\.\d+/);
  }
  expect(survey!.err).toContain("was loaded");
  expect(survey!.code).not.toBe(0);
  const started = await run(process.execPath, ["bin/holdfast.cjs", "--version"]);
  expect(started).toMatchObject({ ok: true, stdout: printed[0]!.out, stderr: "" });
});

it("completion, trust and doctor do their work without loading LangChain", async () => {
  const words = [["completion", "bash"], ["--complete", "run", "--model", ""], ["trust"], ["doctor"]];
  const ended = await without(["langchain", "@langchain/"], ...words);
  expect(ended.map(({ code, err }) => ({ code, err }))).toEqual(words.map(() => ({ code: 0, err: "" })));
});

it.runIf(isRelease)(
  "a closed output pipe stops the run without a stack trace, and the run can resume",
  async () => {
    const { child, err, exit } = holdfast([...SURVEY, "--json"]);
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await exit).toBe(130);
    expect(await err).toBe(
      "holdfast: stopped because the reader of the output closed it. Continue with: holdfast resume survey\n",
    );
    const resumed = holdfast(["resume", "survey"]);
    expect(await resumed.out).not.toContain("\u001B");
    expect(await resumed.out).toContain("[x] 1 ");
    expect(await resumed.out).toContain("survey.md");
    expect(await resumed.exit).toBe(0);
  },
);

it("SIGTERM stops a run like Ctrl-C, and a second process on a thread gets an error", async () => {
  const { child, out, exit } = holdfast([...SURVEY, "--json"]);
  child.stdout.once("data", () => child.kill("SIGTERM"));
  expect(await exit).toBe(130);
  const last = JSON.parse((await out).trimEnd().split("\n").at(-1)!) as object;
  expect(last).toMatchObject({ type: "run-end", outcome: "interrupted", resume: "holdfast resume survey" });

  const saver = await sqliteSaver(join(home, "threads.db"));
  const release = await saver.acquireThread("survey");
  const second = holdfast(["resume", "survey"]);
  expect(await second.err).toMatch(/^holdfast: Thread "survey" is in use by process \d+ .*\n$/);
  expect(await second.exit).toBe(1);
  await release();
  saver.close();
  expect(await holdfast(["resume", "survey"]).exit).toBe(0);
});

it.skipIf(!existsSync("/dev/full"))(
  "a full disk for the output gives one line, not a stack trace",
  async () => {
    const command = `"$0" "$1" run --dir project --thread survey "Survey this directory" > /dev/full`;
    const child = spawn("sh", ["-c", command, process.execPath, MAIN], { cwd: home, env: environment() });
    expect(await text(child.stderr)).toMatch(/^(holdfast: .*\n)+$/);
    expect(child.exitCode).not.toBe(0);
  },
);

it.runIf(isRelease)("npm start passes commands on, names itself in hints, and refuses a typo", async () => {
  const start = (...args: string[]) =>
    run(process.execPath, ["scripts/start.mjs", ...args], { env: environment() });
  expect(await start("doctor")).toMatchObject({ ok: true });
  // Flags without a command open a session, which needs a terminal.
  expect((await start("--continue")).stderr).toContain("A session needs a terminal");
  const unknown = await start("show", "nobody");
  expect(unknown).toMatchObject({ ok: false });
  expect(unknown.stderr).toContain("See npm start -- threads.");
  expect((await start("thraeds")).stderr).toBe("holdfast: Unknown command thraeds; did you mean threads?\n");
});

it("npm start plays the demo in at most 40 lines, and says a program plays the model", async () => {
  const { ok, stdout } = await run(process.execPath, ["scripts/start.mjs"], { env: environment() });
  expect(ok).toBe(true);
  expect(stdout).toMatch(/^A script stands in for the language model\. Scratch project: \S+holdfast-demo-/);
  expect(stdout).toContain("then all 3 pass");
  expect(stdout).toContain("To try it yourself: npm start -- demo");
  expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
});

const HEAVY = ["langchain", "@langchain/", "libsql", "@clack/", "zod"];

/** A module that makes Node fail when one of these packages is loaded, by its name or in a file of the bundled command. */
function refusing(packages: readonly string[]): string {
  const hooks = `const packages = ${JSON.stringify(packages)};
  const refuse = (name) => {
    if (packages.some((one) => name.startsWith(one))) throw new Error(name + " was loaded");
  };
  export async function resolve(name, context, next) {
    refuse(name);
    return next(name, context);
  }
  export async function load(url, context, next) {
    const loaded = await next(url, context);
    for (const [, name] of String(loaded.source ?? "").matchAll(/^\\/\\/ node_modules\\/(\\S+)/gm)) refuse(name);
    return loaded;
  }`;
  const url = `data:text/javascript,${encodeURIComponent(hooks)}`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(url)});`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}
