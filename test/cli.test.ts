import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sqliteSaver } from "../src/storage/index.ts";
import { run } from "./run.ts";

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

function holdfast(args: readonly string[], { node = [], env = {} }: { node?: string[]; env?: object } = {}) {
  const child = spawn(process.execPath, [...node, MAIN, ...args], {
    cwd: home,
    env: { ...environment(), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  // A test that closes the pipe does not read from it.
  const out = text(child.stdout).catch(() => "");
  return { child, exit, out, err: text(child.stderr) };
}

const SURVEY = ["run", "--dir", "project", "--thread", "survey", "Survey this directory"];

it.each([["--help"], ["run", "--help"], ["plan", "edit", "--help"], ["--version"]])(
  "%s %s prints without loading LangChain, a database or a view",
  async (...args) => {
    const { out, err, exit } = holdfast(args.filter(Boolean), { node: ["--import", refusing(HEAVY)] });
    expect(await err).toBe("");
    expect(await exit).toBe(0);
    expect(await out).toMatch(/holdfast|^\d+\.\d+\.\d+/);
  },
);

it.each([[["completion", "bash"]], [["--complete", "run", "--model", ""]], [["trust"]], [["doctor"]]])(
  "%j does its work without loading LangChain",
  async (args) => {
    const { err, exit } = holdfast(args, { node: ["--import", refusing(["langchain", "@langchain/"])] });
    expect(await err).toBe("");
    expect(await exit).toBe(0);
  },
);

it("the guard of the tests before refuses what a run needs", async () => {
  const { err, exit } = holdfast(SURVEY, { node: ["--import", refusing(HEAVY)] });
  expect(await err).toContain("was loaded");
  expect(await exit).not.toBe(0);
});

it("a reader that has gone stops the run without a stack trace, and the run can go on", async () => {
  const { child, err, exit } = holdfast([...SURVEY, "--json"]);
  child.stdout.once("data", () => child.stdout.destroy());
  expect(await exit).toBe(130);
  expect(await err).toBe(
    "holdfast: stopped, since nobody reads the output. Go on with: holdfast resume survey\n",
  );
  const resumed = holdfast(["resume", "survey", "--quiet"]);
  expect(await resumed.out).toContain("survey.md");
  expect(await resumed.exit).toBe(0);
});

it("SIGTERM stops the run as Ctrl-C does", async () => {
  const { child, out, exit } = holdfast([...SURVEY, "--json"]);
  child.stdout.once("data", () => child.kill("SIGTERM"));
  expect(await exit).toBe(130);
  const last = JSON.parse((await out).trimEnd().split("\n").at(-1)!) as object;
  expect(last).toMatchObject({ type: "run-end", outcome: "interrupted", resume: "holdfast resume survey" });
});

it("a second process on the same thread gets a clear error and changes nothing", async () => {
  expect(await holdfast([...SURVEY, "--max-turns", "2"]).exit).toBe(3);
  const saver = await sqliteSaver(join(home, "threads.db"));
  const release = await saver.acquireThread("survey");
  const second = holdfast(["resume", "survey"]);
  expect(await second.err).toMatch(/^holdfast: Thread "survey" is in use by process \d+ .*\n$/);
  expect(await second.exit).toBe(1);
  await release();
  saver.close();
  expect(await holdfast(["resume", "survey", "--max-turns", "99"]).exit).toBe(0);
});

it("there is no escape sequence in a pipe", async () => {
  const { out, exit } = holdfast(SURVEY);
  expect(await exit).toBe(0);
  expect(await out).not.toContain("\u001B");
  expect(await out).toContain("[x] 1 ");
});

it.skipIf(!existsSync("/dev/full"))(
  "a full disk behind the output is one line, not a stack trace",
  async () => {
    const command = `"$0" "$1" run --dir project --thread survey "Survey this directory" > /dev/full`;
    const child = spawn("sh", ["-c", command, process.execPath, MAIN], { cwd: home, env: environment() });
    expect(await text(child.stderr)).toMatch(/^(holdfast: .*\n)+$/);
    expect(child.exitCode).not.toBe(0);
  },
);

it("npm start passes commands on, names itself in hints, and takes no typo for a task", async () => {
  const start = (...args: string[]) =>
    run(process.execPath, ["scripts/start.mjs", ...args], { env: environment() });
  expect(await start("doctor")).toMatchObject({ ok: true });
  const unknown = await start("show", "nobody");
  expect(unknown).toMatchObject({ ok: false });
  expect(unknown.stderr).toContain("See npm start -- threads.");
  expect((await start("thraeds")).stderr).toBe("holdfast: Unknown command thraeds; did you mean threads?\n");
});

const HEAVY = ["langchain", "@langchain/", "libsql", "@clack/", "zod"];

/** A module that makes Node fail when one of these packages is loaded. */
function refusing(packages: readonly string[]): string {
  const hooks = `export async function resolve(name, context, next) {
    if (${JSON.stringify(packages)}.some((one) => name.startsWith(one))) throw new Error(name + " was loaded");
    return next(name, context);
  }`;
  const url = `data:text/javascript,${encodeURIComponent(hooks)}`;
  const register = `import { register } from "node:module"; register(${JSON.stringify(url)});`;
  return `data:text/javascript,${encodeURIComponent(register)}`;
}
