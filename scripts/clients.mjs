/**
 * Has a conversation with public clients, as they come from the registry, and prints which of them saw its text, plan and
 * tool results, and could approve, stop and go on. LangGraph's client, the AI SDK, AG-UI and the applications of
 * `examples/clients` speak to an agent on a script; clients of ACP and MCP to `holdfast acp` and `holdfast serve`. They
 * and the Node.js that some need are put into a folder of their own, and are no part of the ordinary tests: that takes
 * some minutes and 400 MB.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
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
  "@ai-sdk/react": "4.0.102",
  ai: "7.0.99",
  "@ag-ui/langgraph": "0.0.43",
  "@ag-ui/client": "1.0.0",
  "@ag-ui/core": "1.0.0",
  "langgraph-sdk-newest": "npm:@langchain/langgraph-sdk@1.15.0",
  express: "5.3.0",
  fastify: "5.12.8",
  "@fastify/middie": "9.3.6",
  "@types/express": "5.0.6",
  zod: "^4.6.7",
};
/** Taken in the version that the project has: newer ones may need what the registry lacks. */
const LANGCHAIN = ["langchain", "@langchain/core", "@langchain/langgraph", "@langchain/langgraph-sdk"];
/** What of the suite is about any server: the rest calls tools that only its example has. */
const SCENARIOS = ["server-initialize", "ping", "tools-list", "resources-list", "dns-rebinding-protection"];

const main = resolve("dist/surfaces/cli/main.js");
const folder = resolve("node_modules/.cache/holdfast-clients");
const examples = resolve("examples/clients");
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
const COLUMNS = ["text", "plan", "tool results", "approval", "stop", "resume"];
const ROWS = {
  "LangGraph SDK 1.12": async (cells) => converse(cells, await bySdk("@langchain/langgraph-sdk")),
  "LangGraph SDK 1.15": async (cells) =>
    converse(cells, await bySdk(installed("langgraph-sdk-newest/dist/index.js"))),
  "@langchain/react": byReact,
  "AI SDK (useChat)": byAiSdk,
  "AG-UI (CopilotKit)": byAgUi,
  "fetch, Express": (cells) => byFetch(cells, "express", "/early"),
  "fetch, Express after express.json()": (cells) => byFetch(cells, "express", "/agent"),
  "fetch, Fastify": (cells) => byFetch(cells, "fastify", "/agent"),
  "fetch, Hono": (cells) => byFetch(cells, "hono", "/agent"),
  "ACP (acp-factory)": byAcpFactory,
  "MCP (inspector)": byInspector,
};
const TRIES = {
  "the examples compile": () =>
    run(process.execPath, [resolve("node_modules/typescript/bin/tsc"), "-p", examples]),
  "acpx runs a survey and prints its plan": byAcpx,
  "MCP's conformance suite passes": byConformance,
};

const only = process.argv[2] ?? "";
const isMeant = ([name]) => name.includes(only);
try {
  await install();
  const rows = [];
  for (const [name, work] of Object.entries(ROWS).filter(isMeant)) {
    const cells = {};
    const isDone = await tried(name, () => work(cells));
    const marks = COLUMNS.map(
      (column) => ({ true: "✓", undefined: "✗", false: "✗", none: "–" })[cells[column]],
    );
    rows.push([name, ...marks]);
    if (!isDone || marks.includes("✗")) process.exitCode = 1;
  }
  for (const [name, work] of Object.entries(TRIES).filter(isMeant))
    if (!(await tried(name, work))) process.exitCode = 1;
  const line = (words) => `| ${words.join(" | ")} |`;
  console.log(["", line(["client", ...COLUMNS]), line(Array(7).fill("---")), ...rows.map(line)].join("\n"));
} finally {
  rmSync(home, { recursive: true });
}
// Applications and clients keep connections open.
process.exit();

async function install() {
  const versionOf = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
  const overrides = {
    // Only types, in a version that not every registry has.
    "@langchain/protocol": versionOf("@langchain/protocol"),
    "@ag-ui/langgraph": Object.fromEntries(LANGCHAIN.map((name) => [name, versionOf(name)])),
  };
  const manifest = JSON.stringify({ private: true, dependencies: CLIENTS, overrides });
  const file = join(folder, "package.json");
  const packages = join(folder, "node_modules");
  // npm writes it at its end: a folder without it was left half way.
  const isWhole = existsSync(join(packages, ".package-lock.json")) && existsSync(node22);
  if (!isWhole || readFileSync(file, "utf8") !== manifest) {
    console.log("Installing the clients (npm install, 400 MB)");
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, manifest);
    const args = ["install", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", args, { cwd: folder, env: process.env, timeout: 1_800_000 });
  }
  // As in an application, there is one LangChain, which is the project's.
  for (const name of ["langchain", "@langchain"])
    rmSync(join(packages, name), { recursive: true, force: true });
  rmSync(join(examples, "node_modules"), { force: true });
  symlinkSync(packages, join(examples, "node_modules"), "junction");
}

function installed(path) {
  return pathToFileURL(join(folder, "node_modules", path)).href;
}

/** The same conversation with every client that speaks to the agent of the examples. */
async function converse(cells, chat) {
  const { tide } = await import(`${examples}/tide.ts`);
  const asked = await chat.send("How is the tide?");
  const approved = asked.question === "write_file" ? await chat.approve() : asked;
  cells.text = approved.text === "The tide is low.";
  cells.plan = asked.plan === "0/2" && approved.plan === "2/2";
  const results = new Set([...asked.results, ...approved.results]);
  cells["tool results"] = ["write_todos", "write_file", "update_todos"].every((name) => results.has(name));
  cells.approval = asked.question === "write_file" && results.has("write_file");
  const signal = AbortSignal.timeout(60_000);
  const [begun, stopped] = ["begun", "stopped"].map((event) => once(tide, event, { signal }));
  const waiting = chat.send("Wait for high tide.");
  await begun;
  await chat.stop();
  await stopped;
  await waiting;
  cells.stop = true;
  cells.resume = (await chat.send("Go on.")).text === "It is still low.";
}

async function bySdk(module) {
  const { Client } = await import(module);
  const { connect } = await import(`${examples}/langgraph-sdk.ts`);
  const { url, token } = await served();
  return connect(new Client({ apiUrl: url, apiKey: token }));
}

async function byAgUi(cells) {
  const { connect } = await import(`${examples}/ag-ui.ts`);
  const { url, token } = await served();
  await converse(cells, connect(url, token));
}

async function byAiSdk(cells) {
  const { POST } = await import(`${examples}/next-route.ts`);
  const { connect } = await import(`${examples}/use-chat.ts`);
  await converse(cells, connect((await served({ fetch: POST })).url));
}

async function byFetch(cells, application, path) {
  const { http } = await import(`${examples}/${application}.ts`);
  if (!http.listening) await once(http, "listening");
  const { connect } = await import(`${examples}/fetch.ts`);
  const { token } = await served();
  await converse(cells, await connect(`http://127.0.0.1:${http.address().port}${path}`, token));
}

/** The agent of the examples at an address, or another fetch handler. */
async function served(handler) {
  const { server, TOKEN } = await import(`${examples}/tide.ts`);
  const { listen } = await import("holdfast/server");
  return { token: TOKEN, ...(await listen(handler ?? server, { port: 0, hostname: "127.0.0.1" })) };
}

/** The release's test in a browser. Where there is none, the cells stay empty. */
async function byReact(cells) {
  const vitest = resolve("node_modules/vitest/vitest.mjs");
  const args = [
    vitest,
    "run",
    "--project",
    "release",
    "--reporter",
    "json",
    "test/release/react-client.test.ts",
  ];
  const settings = { cwd: resolve("."), env: { ...process.env, HOLDFAST_RELEASE: "1" }, timeout: 900_000 };
  const { stdout } = await run(process.execPath, args, settings);
  const tests = JSON.parse(stdout.slice(stdout.indexOf("{"))).testResults[0].assertionResults;
  const [shows, asks, stops] = tests.map(({ status }) => (status === "passed" ? true : "none"));
  Object.assign(cells, {
    text: shows,
    plan: shows,
    "tool results": shows,
    approval: asks,
    stop: stops,
    resume: stops,
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

async function byAcpFactory(cells) {
  const { AgentFactory } = await import(installed("acp-factory/dist/index.js"));
  AgentFactory.register("holdfast", { command: process.execPath, args: [main, "acp"], env });
  let questions = 0;
  const onPermissionRequest = async ({ options }) => {
    questions += 1;
    const { optionId } = options.find(({ kind }) => kind === "allow_once");
    return { outcome: { outcome: "selected", optionId } };
  };
  const spawnAgent = (pace) =>
    AgentFactory.spawn("holdfast", {
      permissionMode: "callback",
      onPermissionRequest,
      env: { ...env, HOLDFAST_PACE: pace },
    });
  const survey = async (session, onUpdate = async () => {}) => {
    const updates = [];
    for await (const update of session.prompt("Survey this directory")) {
      updates.push(update);
      await onUpdate(update);
    }
    return updates;
  };
  const first = await spawnAgent("100");
  const session = await first.createSession(project);
  let isStopped = false;
  await survey(session, async ({ sessionUpdate }) => {
    if (isStopped || sessionUpdate !== "plan") return;
    isStopped = true;
    await session.cancel();
  });
  cells.stop = isStopped && !existsSync(join(project, "survey.md"));
  await first.close();
  const second = await spawnAgent("0");
  const loaded = await second.loadSession(session.id, project);
  const updates = await survey(loaded);
  await second.close();
  const kinds = (kind) => updates.filter(({ sessionUpdate }) => sessionUpdate === kind);
  const said = kinds("agent_message_chunk").map(({ content }) => content.text);
  cells.text = said.join("").includes("The report is in survey.md");
  cells.resume = cells.text && loaded.id === session.id;
  cells.plan =
    kinds("plan")
      .at(-1)
      ?.entries.every(({ status }) => status === "completed") ?? false;
  const calls = kinds("tool_call").map(({ toolCallId }) => toolCallId);
  const ended = kinds("tool_call_update").filter(({ status }) => status === "completed");
  cells["tool results"] =
    calls.length > 0 && calls.every((call) => ended.some(({ toolCallId }) => toolCallId === call));
  cells.approval = questions > 0 && existsSync(join(project, "survey.md"));
}

async function byInspector(cells) {
  const cli = join(folder, "node_modules/.bin/mcp-inspector");
  const called = async ({ url, token }, tool, values = {}) => {
    const server = [
      "--cli",
      `${url}/mcp`,
      "--transport",
      "http",
      "--header",
      `Authorization: Bearer ${token}`,
    ];
    const args = Object.entries(values).flatMap(([name, value]) => ["--tool-arg", `${name}=${value}`]);
    const call = ["--method", "tools/call", "--tool-name", tool, ...args];
    return JSON.parse((await run(node22, [cli, ...server, ...call])).stdout).structuredContent;
  };
  const task = "Survey this directory";
  const stopped = await withServer({ pace: "100" }, async (server) => {
    const running = called(server, "run_task", { task });
    let thread;
    while (thread === undefined) {
      const { threads } = await called(server, "list_threads");
      thread = threads.find(({ state, todos }) => state === "running" && todos.total > 0)?.id;
    }
    await called(server, "cancel", { thread });
    return running;
  });
  cells.stop = stopped.state === "interrupted";
  await withServer({ flags: ["--ask", "write_file"] }, async (server) => {
    const resumed = await called(server, "continue_task", { thread: stopped.thread });
    cells.resume = resumed.state === "done";
    const asked = await called(server, "run_task", { task });
    cells.plan = asked.plan.length > 0;
    const { state, answer } = await called(server, "answer", { thread: asked.thread, answer: "approve" });
    cells.approval = asked.state === "waiting" && state === "done";
    cells.text = answer.includes("The report is in survey.md");
  });
  // A caller is told how the work goes on, not what each call has returned.
  cells["tool results"] = "none";
}

/** Does something with `holdfast serve`. */
async function withServer({ pace = "0", flags = [] }, work) {
  const args = [main, "serve", "--port", "0", "--dir", project, ...flags];
  const child = spawn(process.execPath, args, { env: { ...env, HOLDFAST_PACE: pace }, cwd: project });
  let errors = "";
  child.stderr.on("data", (text) => (errors += text));
  const exit = once(child, "exit");
  try {
    const said = await Promise.race([once(child.stdout, "data"), exit]);
    const [, url, token] = /^(.*)\/#token=(.*)\n$/.exec(String(said[0])) ?? [];
    if (url === undefined) throw new Error(`holdfast serve did not start: ${errors}`);
    return await work({ url, token });
  } finally {
    child.kill("SIGTERM");
    await exit;
  }
}

async function byConformance() {
  await withServer({}, async ({ url, token }) => {
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
    }
  });
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
