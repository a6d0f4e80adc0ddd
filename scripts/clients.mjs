/**
 * Tries `holdfast acp` and `holdfast mcp` with the public clients of both protocols, as they come from the registry:
 * acpx, acp-factory, the MCP inspector and MCP's conformance suite; and an agent with the AI SDK. They and the Node.js
 * that some of them need are put into a folder of their own, and are no part of the ordinary tests: that takes some
 * minutes and 400 MB.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const CLIENTS = {
  node: "22.23.3",
  acpx: "0.19.1",
  "acp-factory": "0.1.14",
  "@modelcontextprotocol/inspector": "2.12.0",
  "@modelcontextprotocol/conformance": "0.1.16",
  "@ai-sdk/langchain": "3.0.99",
  ai: "^7.0.0",
  zod: "^4.6.7",
};
/** What of the suite is about any server: the rest calls tools that only its example has. */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

const main = resolve("dist/surfaces/cli/main.js");
const folder = resolve("node_modules/.cache/holdfast-clients");
const home = mkdtempSync(join(tmpdir(), "holdfast-clients-"));
const project = join(home, "project");
mkdirSync(project);
writeFileSync(join(project, "a.md"), "# Hello\n");
const env = {
  PATH: process.env.PATH,
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  HOLDFAST_MODEL: "offline",
  HOLDFAST_PACE: "0",
};

const node22 = join(folder, "node_modules/node/bin/node");
const TRIES = {
  "the clients are installed": install,
  "acpx runs a survey and prints its plan": byAcpx,
  "acp-factory runs one, and loads it in another process": byAcpFactory,
  "the inspector lists the tools and calls one": byInspector,
  "the conformance suite passes": byConformance,
  "the AI SDK sees every call end": byAiSdk,
};
try {
  for (const [name, work] of Object.entries(TRIES)) {
    if (await tried(name, work)) continue;
    process.exitCode = 1;
    // Without the clients there is nothing to try.
    if (work === install) break;
  }
} finally {
  rmSync(home, { recursive: true });
}

async function install() {
  const manifest = JSON.stringify({ private: true, dependencies: CLIENTS });
  const file = join(folder, "package.json");
  // npm writes it at its end: a folder without it was left half way.
  const isWhole = existsSync(join(folder, "node_modules/.package-lock.json")) && existsSync(node22);
  if (isWhole && readFileSync(file, "utf8") === manifest) return;
  console.log("Installing the clients (npm install, 400 MB)");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, manifest);
  await run("npm", ["install", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    env: process.env,
  });
}

async function byAcpx() {
  const cli = join(folder, "node_modules/acpx/dist/cli.js");
  const agent = `${process.execPath} ${main} acp`;
  const args = [cli, "--agent", agent, "--approve-all", "exec", "Survey this directory"];
  const { stdout } = await run(node22, args);
  expect(stdout, "[completed] Write survey.md");
  expect(stdout, "[done] end_turn");
  rmSync(join(project, "survey.md"));
  // Its own exit code says that something was refused.
  const denied = await run(node22, args.with(3, "--deny-all")).catch(({ message }) => ({ stdout: message }));
  expect(denied.stdout, "[done] end_turn");
  if (existsSync(join(project, "survey.md"))) throw new Error("A file was written that was refused.");
}

async function byAcpFactory() {
  const { AgentFactory } = await import(
    pathToFileURL(join(folder, "node_modules/acp-factory/dist/index.js")).href
  );
  AgentFactory.register("holdfast", { command: process.execPath, args: [main, "acp"], env });
  const first = await AgentFactory.spawn("holdfast", { permissionMode: "auto-approve", env });
  const session = await first.createSession(project);
  const kinds = new Set();
  for await (const update of session.prompt("Survey this directory")) kinds.add(update.sessionUpdate);
  for (const kind of ["plan", "tool_call", "tool_call_update", "agent_message_chunk"]) {
    if (!kinds.has(kind)) throw new Error(`No ${kind} came.`);
  }
  await first.close();
  const second = await AgentFactory.spawn("holdfast", { permissionMode: "auto-approve", env });
  const loaded = await second.loadSession(session.id, project);
  if (loaded.id !== session.id) throw new Error("Another session was loaded.");
  await second.close();
}

async function byInspector() {
  const cli = join(folder, "node_modules/.bin/mcp-inspector");
  const server = ["--cli", process.execPath, main, "mcp", "--dir", project];
  const { stdout } = await run(node22, [cli, ...server, "--method", "tools/list"]);
  expect(stdout, '"run_task"');
  const task = [
    "--method",
    "tools/call",
    "--tool-name",
    "run_task",
    "--tool-arg",
    "task=Survey this directory",
  ];
  const called = await run(node22, [cli, ...server, ...task]);
  expect(called.stdout, "The report is in survey.md");
}

async function byConformance() {
  const child = spawn(process.execPath, [main, "serve", "--port", "0", "--dir", project], {
    env,
    cwd: project,
  });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const said = await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  const [, url, token] = /^(.*)\/#token=(.*)\n$/.exec(String(said[0])) ?? [];
  if (url === undefined) {
    child.kill();
    throw new Error(`holdfast serve did not start: ${errors}`);
  }
  // The suite knows no tokens.
  const proxy = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const passed = send(`${url}${asked.url}`, { method: asked.method, headers }, (got) => {
      answer.writeHead(got.statusCode, got.headers);
      got.pipe(answer);
    });
    asked.pipe(passed);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const suite = join(folder, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const address = `http://127.0.0.1:${proxy.address().port}/mcp`;
  try {
    for (const scenario of SCENARIOS)
      await run(node22, [suite, "server", "--url", address, "--scenario", scenario]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
    child.kill("SIGTERM");
    await once(child, "exit");
  }
}

/** Streams an agent as a route for `useChat` does. */
async function byAiSdk() {
  const { toUIMessageStream } = await import(
    pathToFileURL(join(folder, "node_modules/@ai-sdk/langchain/dist/index.js")).href
  );
  const { createDeepAgent } = await import(pathToFileURL(resolve("dist/index.js")).href);
  const { callTool, ScriptedModel } = await import(pathToFileURL(resolve("dist/testing/index.js")).href);
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Look", "Report"] }),
    [callTool("update_todos", { done: "1,2" }), callTool("write_file", { file_path: "/a.md", content: "a" })],
    "Done.",
  ]);
  const agent = createDeepAgent({ model, plan: { verify: false } });
  const input = { messages: [{ role: "user", content: "Look." }] };
  const stream = await agent.stream(input, { streamMode: ["values", "messages", "custom"] });
  const counts = {};
  for await (const { type } of toUIMessageStream(stream)) counts[type] = (counts[type] ?? 0) + 1;
  for (const type of ["tool-input-available", "tool-output-available"])
    if (counts[type] !== 3) throw new Error(`${counts[type] ?? 0} of 3 ${type}`);
  if (!counts["data-plan-change"]) throw new Error("No plan came.");
}

function run(command, args, options = {}) {
  return new Promise((done, fail) => {
    const settings = { cwd: project, env, maxBuffer: 64 * 1024 * 1024, timeout: 300_000, ...options };
    const child = execFile(command, args, settings, (error, stdout, stderr) => {
      const why = error?.killed
        ? `took more than ${settings.timeout / 1000} s`
        : error?.message.split("\n")[0];
      if (error) fail(new Error(`${why}\n${stdout}${stderr}`));
      else done({ stdout, stderr });
    });
    child.stdin.end();
  });
}

function expect(text, part) {
  if (!text.includes(part)) throw new Error(`There is no ${part} in:\n${text}`);
}

async function tried(name, work) {
  try {
    await work();
    console.log(`✓ ${name}`);
    return true;
  } catch (error) {
    console.log(`✗ ${name}\n${String(error.message).slice(-3000)}`);
    return false;
  }
}
