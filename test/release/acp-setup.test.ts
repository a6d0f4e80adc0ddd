import { mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startEditor } from "../helpers/acp/editor.ts";
import { Collector } from "../helpers/telemetry/collector.ts";
import { expectOfficialTypes } from "../helpers/telemetry/otlp.ts";
import { run } from "../helpers/terminal/run-program.ts";

const MAIN = join(process.cwd(), "dist/surfaces/cli/main.js");

let home: string;
let env: Record<string, string>;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-acp-setup-")));
  env = {
    PATH: process.env["PATH"]!,
    HOME: home,
    HOLDFAST_STATE: join(home, "threads.db"),
    HOLDFAST_MODEL: "offline",
    HOLDFAST_PACE: "0",
  };
});
afterEach(() => rmSync(home, { recursive: true }));

it("holdfast acp --install adds it to Zed once, and says what to add elsewhere", async () => {
  const install = () => run(process.execPath, [MAIN, "acp", "--install"], { cwd: home, env });
  const file = join(home, ".config/zed/settings.json");
  const { ok, stdout } = await install();
  expect(ok).toBe(true);
  expect(stdout).toContain(`Zed: ${file} was changed`);
  expect(stdout).toMatch(/JetBrains: .*acp\.json/);
  expect(stdout).toContain("Neovim");
  const settings = readFileSync(file, "utf8");
  const agent = { type: "custom", command: process.execPath, args: [MAIN, "acp"] };
  expect(JSON.parse(settings)).toEqual({ agent_servers: { Holdfast: agent } });
  expect((await install()).stdout).toContain("has it already");
  expect(readFileSync(file, "utf8")).toBe(settings);
});

it("an editor learns that a model is missing and how to get it; a terminal says more", async () => {
  const named = { ...env, HOLDFAST_MODEL: "openai:gpt-5.1" };
  const editor = await startEditor({ cwd: home, env: named, capabilities: { auth: { terminal: true } } });
  expect(editor.hello.authMethods).toMatchObject([
    { id: "doctor", type: "terminal", args: ["--setup"] },
    { id: "environment" },
  ]);
  const missing = { code: -32_000, message: expect.stringContaining("OPENAI_API_KEY") };
  await expect(
    editor.agent.request(methods.agent.session.new, { cwd: home, mcpServers: [] }),
  ).rejects.toMatchObject(missing);
  const asked = editor.agent.request(methods.agent.authenticate, { methodId: "environment" });
  await expect(asked).rejects.toMatchObject(missing);
  expect(await editor.end()).toBe(0);
  const said = await run(process.execPath, [MAIN, "acp", "--setup"], { cwd: home, env: named });
  expect(said.stdout).toContain("OPENAI_API_KEY");
});

it.each([
  ["acp, where a session that an editor closes can be opened again,", byEditor],
  ["mcp", byAgent],
])("Holdfast traces the runs of holdfast %s", async (_surface, runs) => {
  const collector = new Collector();
  await collector.start();
  try {
    const traced = {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_TIMEOUT: "120000",
      HOLDFAST_PRICES: "3,15",
    };
    await runs(traced);
  } finally {
    collector.stop();
  }
  expectOfficialTypes(collector);
  expect(new Set(collector.requests.map(({ url }) => url))).toEqual(new Set(["/v1/metrics", "/v1/traces"]));
  const sent = JSON.stringify(collector.requests.map(({ body }) => body));
  for (const part of [
    "invoke_agent holdfast",
    "plan_item 1",
    "execute_tool write_todos",
    "holdfast.cost.usd",
  ])
    expect(sent).toContain(part);
});

async function byEditor(given: Record<string, string>): Promise<void> {
  const editor = await startEditor({ cwd: home, env: given, flags: ["--mode", "auto"] });
  const { agent } = editor;
  await agent.request(methods.agent.authenticate, { methodId: "environment" });
  const { sessionId } = await agent.request(methods.agent.session.new, { cwd: home, mcpServers: [] });
  await agent.request(methods.agent.session.close, { sessionId });
  await expect(editor.prompt(sessionId, "Survey this directory")).rejects.toThrow(/not found/i);
  await agent.request(methods.agent.session.resume, { sessionId, cwd: home, mcpServers: [] });
  expect(await editor.prompt(sessionId, "Survey this directory")).toEqual({ stopReason: "end_turn" });
  expect(await editor.end()).toBe(0);
}

async function byAgent(given: Record<string, string>): Promise<void> {
  const client = new Client({ name: "test", version: "1" });
  const args = [MAIN, "mcp", "--dir", home];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: given, cwd: home }));
  await client.callTool({ name: "run_task", arguments: { task: "Survey this directory" } });
  await client.close();
}
