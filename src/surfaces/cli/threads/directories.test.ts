import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { afterEach, beforeEach, expect, it } from "vitest";
import { taskInput } from "../../../../test/helpers/models/run-thread.ts";
import { sqliteSaver } from "../../../storage/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import { createRunAgent } from "../../../threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { cli } from "../cli.ts";

let home: string;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-directories-")));
  for (const folder of ["kelp", "moss"]) mkdirSync(join(home, folder));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

/** Runs a command in a folder, with nobody at the terminal. */
async function holdfast(folder: string, ...args: string[]) {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written): NodeJS.WriteStream =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written[name] += chunk.toString();
        done();
      },
    }) as unknown as NodeJS.WriteStream;
  const code = await cli(args, {
    stdin: Readable.from([]) as unknown as NodeJS.ReadStream,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    env: { HOME: home, HOLDFAST_STATE: join(home, "threads.db") },
    cwd: join(home, folder),
  });
  return { ok: code === 0, ...written };
}

/** A thread that stops half way. */
const begin = (folder: string, thread: string, ...more: string[]) =>
  holdfast(folder, "run", "--max-turns", "2", "--thread", thread, ...more, "Survey this directory");

/** A thread as earlier versions left it: nobody knows where it was started. */
async function old(thread: string, dir?: string): Promise<void> {
  const saver = await sqliteSaver(join(home, "threads.db"));
  const settings = { ...DEFAULT_SETTINGS, model: "offline", ...(dir !== undefined && { dir }) };
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Dig"] }),
    new Error("the power is out"),
  ]);
  const agent = createRunAgent({ settings, checkpointer: saver, model });
  const config = { configurable: { thread_id: thread } };
  await agent.graph.invoke(taskInput("Go", { run: settings }) as never, config).catch(() => {});
  saver.close();
}

it("resume takes the latest thread of the present directory, and no other", async () => {
  await begin("kelp", "kelp-1");
  await begin("moss", "moss-1");
  expect((await holdfast("kelp", "resume", "--max-turns", "99")).stdout).toContain("resumed kelp-1");

  const none = await holdfast("kelp", "resume");
  expect(none).toMatchObject({ ok: false, stdout: "" });
  expect(none.stderr).toBe(
    "holdfast: This directory has no unfinished thread; other directories have moss-1 (~/moss). To continue one: holdfast resume <thread>.\n",
  );
  expect((await holdfast("kelp", "resume", "moss-1", "--max-turns", "99")).ok).toBe(true);
  expect((await holdfast("moss", "resume")).stderr).toContain("There is no unfinished thread. Start one");
});

it("a thread belongs to its working directory, links included, and its start folder", async () => {
  symlinkSync(join(home, "kelp"), join(home, "link"));
  await begin(".", "kelp-1", "--dir", "link");
  expect((await holdfast(".", "threads", "--here")).stdout).toMatch(/^kelp-1 .* ~\/link /m);
  for (const folder of [".", "kelp"]) {
    expect((await holdfast(folder, "resume", "--max-turns", "1")).stdout).toContain("resumed kelp-1");
  }
  expect((await holdfast("moss", "resume")).stderr).toContain("other directories have kelp-1 (~/link)");
});

it("threads of before are listed, found by --dir, and resumed by their ids", async () => {
  await old("nowhere");
  await old("in-moss", join(home, "moss"));
  const { stdout } = await holdfast("moss", "threads");
  expect(stdout).toMatch(/^in-moss +stopped .* \.$/m);
  expect(stdout).toMatch(/^nowhere +stopped .* -$/m);
  expect((await holdfast("moss", "resume")).stdout).toContain("resumed in-moss");
  expect((await holdfast("kelp", "resume")).stderr).toContain("nowhere (-)");
  expect((await holdfast("kelp", "resume", "nowhere")).stdout).toContain("resumed nowhere");
});

it("threads says where each one is, which are here, and that there are more", async () => {
  await begin("kelp", "kelp-1");
  await begin("moss", "moss-1");
  await begin("kelp", "kelp-2");
  const all = (await holdfast("kelp", "threads")).stdout.trimEnd().split("\n");
  expect(all.slice(1).map((row) => row.split(/ {2,}/).filter((_, at) => at === 0 || at === 4))).toEqual([
    ["kelp-2", "."],
    ["moss-1", "~/moss"],
    ["kelp-1", "."],
  ]);
  const here = await holdfast("kelp", "threads", "--here", "--limit", "1");
  expect(here.stdout).toContain("The latest 1 of 2; holdfast threads --all lists all.");
  expect(here.stdout).not.toContain("kelp-1");
  const every = await holdfast("kelp", "threads", "--limit", "1", "--all", "--json");
  expect(every.stdout.trimEnd().split("\n")).toHaveLength(3);
  expect(JSON.parse(every.stdout.split("\n")[1]!)).toMatchObject({
    id: "moss-1",
    dir: join(home, "moss"),
    startedIn: join(home, "moss"),
  });
  expect((await holdfast(".", "threads", "--here")).stdout).toContain("No threads of this directory.");
});

it("the beginning of an id is enough everywhere, and several candidates are named", async () => {
  await begin("kelp", "kelp-1");
  await begin("kelp", "kelp-2");
  await begin("kelp", "moss");
  const several = 'holdfast: 2 threads begin with "kel": kelp-2, kelp-1. Type more of the one you mean.\n';
  for (const command of [["resume"], ["show"], ["plan", "edit"], ["rm"]]) {
    expect((await holdfast("kelp", ...command, "kel")).stderr).toBe(several);
  }
  expect((await holdfast("kelp", "show", "mo")).ok).toBe(true);
  expect((await holdfast("kelp", "resume", "mo", "--max-turns", "1")).stdout).toContain("resumed moss");
  expect((await holdfast("kelp", "show", "kepl-1")).stderr).toContain("did you mean kelp-1");
  expect((await holdfast("kelp", "rm", "mo", "moss")).stdout).toBe("Deleted moss.\n");
  expect((await holdfast("kelp", "rm", "")).stderr).toContain('There is no thread ""');
});
