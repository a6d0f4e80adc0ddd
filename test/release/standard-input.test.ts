import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { LLMock, type ChatCompletionRequest } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { sqliteSaver } from "../../src/storage/index.ts";
import { cli } from "../../src/surfaces/cli/cli.ts";
import { ScriptedModel } from "../../src/testing/index.ts";
import { createRunAgent } from "../../src/threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../src/threads/prepare/settings.ts";
import { taskInput } from "../helpers/models/run-thread.ts";
import { inPipes, pipes } from "../helpers/terminal/piped-command.ts";
import { run } from "../helpers/terminal/run-program.ts";
import { endedOn, onOneScreen } from "../helpers/terminal/shared-process.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const server = new LLMock({ port: 0, host: "127.0.0.1" });
let home: string;

beforeAll(async () => {
  server.on({ toolName: "ls" }, () => ({ content: "Understood." }));
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-stdin-"));
  server.clearRequests();
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"]!,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai:gpt-5.1",
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: `${server.url}/v1`,
});

/** A line of a shell in which `holdfast` is our program. */
const line = (script: string): string[] => ["-c", `holdfast() { "$NODE" "$MAIN" "$@"; }\n${script}`];

async function shell(script: string, stdin: "ignore" | "pipe" = "ignore") {
  const env = { ...environment(), NODE: process.execPath, MAIN };
  const child = spawn("bash", line(script), { cwd: home, env, stdio: [stdin, "pipe", "pipe"] });
  const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout!), text(child.stderr!), exit]);
  return { code, out, err };
}

/** A command of this process, at the end of a pipe that a shell writes into: for what is in the pipe. */
async function behind(script: string, ...args: string[]) {
  const pipe = join(home, "pipe");
  await run("mkfifo", [pipe]);
  const writer = spawn("bash", ["-c", `${script} > pipe`], { cwd: home, stdio: "ignore" });
  const written = once(writer, "exit");
  const stdin = createReadStream(pipe);
  await once(stdin, "open");
  const { terminal, out, err } = pipes({ cwd: home, env: environment() });
  const code = await cli(args, { ...terminal, stdin: stdin as never });
  await written;
  return { code, out: out(), err: err() };
}

/** For what is in the words, and not in how the process was started. */
const holdfast = (...args: string[]) => inPipes(args, { cwd: home, env: environment() });

const asked = (): unknown =>
  (server.getRequests()[0]?.body as ChatCompletionRequest | undefined)?.messages.at(-1)?.content;

it.each([
  ["a file", `holdfast run -q "Sum up" < notes.txt`, "Sum up\n\n<stdin>\nkelp\n</stdin>"],
  ["/dev/null", `holdfast run -q "Sum up" < /dev/null`, "Sum up"],
  ["no standard input at all", `holdfast run -q "Sum up" <&-`, "Sum up"],
])("the model gets the intended task with %s", async (_what, script, expected) => {
  writeFileSync(join(home, "notes.txt"), "kelp\n");
  expect(await shell(script)).toEqual({ code: 0, out: "Understood.\n", err: "" });
  expect(asked()).toBe(expected);
});

it.each([
  ["an empty pipe", "printf ''", ["Sum up"]],
  ["a task alone in a pipe", `echo "Sum up"`, []],
  ["- for a task in a pipe", `echo "Sum up"`, ["-"]],
])("the model gets the intended task with %s", async (_what, script, words) => {
  expect(await behind(script, "run", "-q", ...words)).toEqual({ code: 0, out: "Understood.\n", err: "" });
  expect(asked()).toBe("Sum up");
});

it("the model gets the piped text, and the thread is named after its task", async () => {
  const said = await shell(`printf 'one\\ntwo\\n' | holdfast run -q "Sum up"`);
  expect(said).toEqual({ code: 0, out: "Understood.\n", err: "" });
  expect(asked()).toBe("Sum up\n\n<stdin>\none\ntwo\n</stdin>");
  const { out } = await holdfast("threads");
  expect(out).toMatch(/^sum-up-\w{4} .* Sum up$/m);
});

it.each([
  ["words after --", ["-q", "--", "sum", "up", "-v", "and", "--all"], "sum up -v and --all"],
  ["a task after --", ["-q", "--", "-v is broken"], "-v is broken"],
  ["a task that begins with a dash", ["-q", "-v is broken"], "-v is broken"],
  ["a task that begins with two dashes", ["--help is wrong", "-q"], "--help is wrong"],
])("the model gets the intended task with %s", async (_what, words, expected) => {
  expect(await holdfast("run", ...words)).toEqual({ code: 0, out: "Understood.\n", err: "" });
  expect(asked()).toBe(expected);
});

it("a socket that another program left open is not waited for", async () => {
  expect(await shell(`holdfast run -q "Sum up"`, "pipe")).toMatchObject({ code: 0, out: "Understood.\n" });
  expect(asked()).toBe("Sum up");
});

it("a task on a terminal leaves the keyboard alone, and a task can be typed after -", async () => {
  const commands = [
    ["run", "-q", "Sum up"],
    ["run", "-q", "-"],
  ].map((args) => ({ args }));
  const screen = onOneScreen(commands, { cwd: home, env: environment() });
  await screen.see(/waiting for the end of standard input/);
  expect(server.getRequests()).toHaveLength(1);
  expect(asked()).toBe("Sum up");
  server.clearRequests();
  screen.type("Typed\r\u0004");
  expect((await endedOn(screen)).map(({ code }) => code)).toEqual([0, 0]);
  expect(asked()).toBe("Typed");
});

it.each([
  ["does not end", "yes", "is longer than 200000 characters"],
  ["is no text", "head -c 100 /dev/zero", "is not text"],
])("standard input that %s is one line, and nothing is sent", async (_what, script, said) => {
  const { code, out, err } = await behind(script, "run", "Sum up");
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err).toMatch(/^holdfast: Standard input .*\n$/);
  expect(err).toContain(said);
  expect(server.getRequests()).toEqual([]);
});

it("an answer may begin with a dash", async () => {
  const { err } = await holdfast("resume", "nobody", "--answer", "- [ ] Dig");
  expect(err).toContain('There is no thread "nobody"');
});

it("a thread of another program may have a name that begins with a dash", async () => {
  const saver = await sqliteSaver(join(home, "threads.db"));
  const settings = { ...DEFAULT_SETTINGS, model: "offline" };
  const agent = createRunAgent({ settings, model: new ScriptedModel(["Understood."]), checkpointer: saver });
  await agent.graph.invoke(taskInput("Sum up", { run: settings }) as never, {
    configurable: { thread_id: "-x" },
  });
  saver.close();
  expect((await holdfast("show", "--answer", "--", "-x")).out).toBe("Understood.\n");
});
