import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { inPipes, pipes, type PipeOptions } from "../../../../test/helpers/terminal/piped-command.ts";
import { cli } from "../cli.ts";

let home: string;
beforeEach(async () => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-session-")));
  mkdirSync(join(home, "elsewhere"));
  await inPipes(["run", "--thread", "garden", "Say hello"], place());
});
afterEach(() => rmSync(home, { recursive: true }));

const place = () => ({
  cwd: home,
  env: { HOME: home, HOLDFAST_STATE: join(home, "threads.db"), HOLDFAST_MODEL: "offline", TERM: "dumb" },
});

/** Opens a session in plain lines at a terminal, and types lines. */
async function holdfast(args: readonly string[], cwd: string, ...lines: string[]) {
  return inSession(args, { ...place(), cwd }, ...lines);
}

async function inSession(args: readonly string[], options: PipeOptions, ...lines: string[]) {
  const { terminal, out, err } = pipes(options);
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} });
  Object.assign(terminal, { stdin });
  Object.assign(terminal.stdout, { isTTY: true });
  for (const line of lines) stdin.write(`${line}\n`);
  return { code: await cli(args, terminal), out: out(), err: err() };
}

it("--thread opens a thread by the beginning of its id, from any directory", async () => {
  const { code, out } = await holdfast(["--thread", "gard"], join(home, "elsewhere"), "/quit");
  expect(code).toBe(0);
  expect(out).toContain("continuing garden\n");
  expect(out).toContain("> Say hello");
});

it.each([["-c"], ["--resume"]])(
  "%s with the id of a thread as its words says how to open it",
  async (flag) => {
    expect(await holdfast([flag, "garden"], home)).toMatchObject({
      code: 2,
      err: "holdfast: garden is a thread, which holdfast session --thread garden opens.\n",
    });
  },
);

it("--thread opens only an existing thread, and excludes other flags that name one", async () => {
  expect((await holdfast(["--thread", "gardn"], home)).err).toContain('There is no thread "gardn"');
  expect((await holdfast(["--thread", "garden", "-c"], home)).err).toContain("do not go together");
});

it("names the store in the command that continues the thread", async () => {
  const other = ["--state", "other file.db"];
  await inPipes(["run", "--thread", "shed", "Say hello", ...other], place());
  const { out } = await holdfast([...other, "--thread", "shed"], home, "/quit");
  expect(out).toContain("continue with holdfast --continue --state 'other file.db'\n");
});

it("continues an offline thread without a login if no model is set up", async () => {
  const env = { HOME: home, HOLDFAST_STATE: join(home, "threads.db"), TERM: "xterm" };
  const { code, out } = await inSession(["--continue"], { cwd: home, env }, "/quit\r");
  expect([code, out]).toEqual([0, expect.stringContaining("continuing garden")]);
});
