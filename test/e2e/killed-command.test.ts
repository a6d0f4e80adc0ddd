import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import type { RunEvent } from "../../src/threads/events/events.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
/** Has its effect, and then goes on until it is told to stop. */
const COMMAND = "echo ran >> effects; while [ ! -e stop ]; do sleep 0.05; done";

const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: FixtureResponse[] = [];
let home: string;
let children: ChildProcess[];

beforeAll(async () => {
  server.on({ toolName: "ls" }, () => script.shift() ?? { error: { message: "Over." }, status: 500 });
  await server.start();
});
afterAll(async () => {
  await server.stop();
});
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-killed-command-"));
  children = [];
  script = [{ toolCalls: [{ name: "execute", arguments: JSON.stringify({ command: COMMAND }) }] }];
  server.clearRequests();
});
afterEach(() => {
  writeFileSync(join(home, "stop"), "");
  for (const child of children) child.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

it("resume does not repeat a command interrupted by kill -9, and notifies the model", async () => {
  await killed("run", "--dir", ".", "--shell", "--yes", "--thread", "t", "Go");
  script = [{ content: "I look first." }];
  const { code, out } = await holdfast("resume", "t");
  expect(out).toMatch(/✗ \$ echo ran.* was stopped before/);
  expect(out).toContain("This execute call was interrupted");
  expect(out).toContain("I look first.");
  expect(code).toBe(0);
  expect(effects()).toEqual(["ran"]);
  expect(JSON.stringify(server.getLastRequest()!.body)).toContain("This execute call was interrupted");
});

it("a killed command that the user allowed needs consent again, and is marked", async () => {
  expect(await holdfast("run", "--dir", ".", "--shell", "--thread", "t", "Go")).toMatchObject({ code: 3 });
  await killed("resume", "t", "--answer", "approve");
  const asked = await holdfast("resume", "t");
  expect(asked.out).toContain("It may have had its effect already; if you allow it, it runs again.");
  expect(asked.code).toBe(3);
  expect(effects()).toEqual(["ran"]);

  writeFileSync(join(home, "stop"), "");
  script = [{ content: "Done." }];
  const { out } = await holdfast("resume", "t", "--answer", "approve", "--json");
  const events = out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as RunEvent);
  const marked = events.flatMap((event) => ("repeated" in event && event.repeated ? [event.type] : []));
  expect(marked).toEqual(["question", "tool-start", "tool-end"]);
  expect(effects()).toEqual(["ran", "ran"]);
});

/** Runs a command of ours until its own command has had its effect, and kills it. */
async function killed(...args: string[]): Promise<void> {
  const child = start(args);
  const failure = text(child.stdout!);
  while (effects().length === 0) {
    expect(child.exitCode, child.exitCode === null ? "" : await failure).toBeNull();
    await sleep(20);
  }
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** What comes before and after it happens in this process. */
const holdfast = (...args: string[]) => inPipes(args, { cwd: home, env: environment() });

function start(args: string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: home,
    stdio: ["ignore", "pipe", "pipe"],
    env: environment(),
  });
  children.push(child);
  return child;
}

function environment(): NodeJS.ProcessEnv {
  return {
    PATH: process.env["PATH"],
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_MODEL: "openai:gpt-5.1",
    OPENAI_API_KEY: "sk-test",
    OPENAI_BASE_URL: `${server.url}/v1`,
  };
}

function effects(): string[] {
  const file = join(home, "effects");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}
