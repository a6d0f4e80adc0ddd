import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { canIsolate } from "../scripts/bubblewrap.mjs";
import { run } from "./run.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");
const server = new LLMock({ port: 0, host: "127.0.0.1" });
let script: FixtureResponse[] = [];
let home: string;
let dir: string;

beforeAll(async () => {
  server.on({ toolName: "ls" }, () => script.shift() ?? { error: { message: "Over." }, status: 500 });
  await server.start();
});
afterAll(() => server.stop());
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "holdfast-sandbox-cli-"));
  dir = join(home, "work");
  mkdirSync(dir);
});
afterEach(() => rmSync(home, { recursive: true }));

const execute = (command: string): FixtureResponse => ({
  toolCalls: [{ name: "execute", arguments: JSON.stringify({ command }) }],
});
const holdfast = (args: readonly string[], env: Record<string, string> = {}) =>
  run(process.execPath, [MAIN, ...args], {
    cwd: dir,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      HOLDFAST_STATE: join(home, "threads.db"),
      HOLDFAST_MODEL: "openai-compatible:scripted",
      HOLDFAST_BASE_URL: `${server.url}/v1`,
      ...env,
    },
  });
const start = ["run", "--dir", ".", "--shell", "--thread", "t"];
const RIGHTS = "they run with your rights";

it.runIf(canIsolate())("commands are isolated by default, threads are none of their business", async () => {
  const look = "head -c 15 threads.db*; echo x > made; echo x > .mcp.json";
  script = [execute(look), { content: "Done." }];
  const { stdout } = await holdfast([...start, "--yes", "Go"], { HOLDFAST_STATE: join(dir, "threads.db") });
  expect(stdout).not.toContain(RIGHTS);
  expect(stdout).toContain("Done.");
  const told = JSON.stringify(server.getLastRequest()!.body);
  expect(told).toContain("cannot create .mcp.json");
  expect(told).toContain("threads.db' for reading: Permission denied");
  expect(told).not.toContain("SQLite");
  expect(existsSync(join(dir, "made"))).toBe(true);
  expect(existsSync(join(dir, ".mcp.json"))).toBe(false);
});

it("with --sandbox never the first line says so, each is asked for, and the thread keeps it", async () => {
  script = [execute("echo x > ../made"), { content: "Done." }];
  const asked = await holdfast([...start, "--sandbox", "never", "Go"]);
  const lines = asked.stdout.split("\n").slice(0, 3).join("\n");
  expect(lines).toContain(`Commands are not isolated, as asked: ${RIGHTS}, and each is asked for.`);
  expect(existsSync(join(home, "made"))).toBe(false);
  const { stdout } = await holdfast(["resume", "t", "--answer", "approve"]);
  expect(stdout).toContain(RIGHTS);
  expect(existsSync(join(home, "made"))).toBe(true);
});

it("with --sandbox always a run that cannot be isolated is refused in one line", async () => {
  const { ok, stdout, stderr } = await holdfast([...start, "--sandbox", "always", "Go"], {
    PATH: "/nowhere",
  });
  expect([ok, stdout]).toEqual([false, ""]);
  expect(stderr).toMatch(/^holdfast: Commands: they have to be isolated, and .*\n$/);
});
