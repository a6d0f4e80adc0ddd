import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LLMock, type FixtureResponse } from "@copilotkit/aimock";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { canIsolate } from "../../scripts/bubblewrap.mjs";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { inOneProcess } from "../helpers/terminal/shared-process.ts";

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
const environment = (env: Record<string, string> = {}) => ({
  PATH: process.env["PATH"],
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "openai-compatible:scripted",
  HOLDFAST_BASE_URL: `${server.url}/v1`,
  ...env,
});
const holdfast = (args: readonly string[], env?: Record<string, string>) =>
  inPipes(args, { cwd: dir, env: environment(env) });
const start = ["run", "--dir", ".", "--shell", "--thread", "t"];
const RIGHTS = "they run with your rights";

it.runIf(canIsolate())("commands are isolated by default, threads are none of their business", async () => {
  const look = "head -c 15 threads.db*; echo x > made; echo x > .mcp.json";
  script = [execute(look), { content: "Done." }];
  const { out } = await holdfast([...start, "--yes", "Go"], { HOLDFAST_STATE: join(dir, "threads.db") });
  expect(out).not.toContain(RIGHTS);
  expect(out).toContain("Done.");
  const told = JSON.stringify(server.getLastRequest()!.body);
  expect(told).toContain("cannot create .mcp.json");
  expect(told).toContain("threads.db' for reading: Permission denied");
  expect(told).not.toContain("SQLite");
  expect(existsSync(join(dir, "made"))).toBe(true);
  expect(existsSync(join(dir, ".mcp.json"))).toBe(false);
});

it("--sandbox never says so first, asks for each command, and stays with the thread", async () => {
  script = [execute("echo x > ../made"), { content: "Done." }];
  const asked = await holdfast([...start, "--sandbox", "never", "Go"]);
  const lines = asked.out.split("\n").slice(0, 3).join("\n");
  expect(lines).toContain(`Commands are not isolated, as asked: ${RIGHTS}, and each is asked for.`);
  expect(existsSync(join(home, "made"))).toBe(false);
  const { out } = await holdfast(["resume", "t", "--answer", "approve"]);
  expect(out).toContain(RIGHTS);
  expect(existsSync(join(home, "made"))).toBe(true);
});

it("--sandbox always refuses in one line a run that cannot be isolated", async () => {
  // A process of its own: what isolates is looked for once.
  const command = { args: [...start, "--sandbox", "always", "Go"] };
  const [refused] = await inOneProcess([command], { cwd: dir, env: environment({ PATH: "/nowhere" }) });
  expect(refused).toMatchObject({ code: 2, out: "" });
  expect(refused!.err).toMatch(/^holdfast: Commands: they have to be isolated, and .*\n$/);
});
