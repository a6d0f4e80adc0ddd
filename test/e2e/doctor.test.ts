import { randomBytes } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { sayTrust } from "../../src/project/index.ts";
import { sqliteSaver } from "../../src/storage/index.ts";
import { projectFindings } from "../../src/surfaces/cli/doctor/project.ts";
import { isRelease } from "../helpers/runner/rounds.ts";
import { inPipes } from "../helpers/terminal/piped-command.ts";
import { inOneProcess } from "../helpers/terminal/shared-process.ts";

let home: string;
let server: Server;
let url: string;
let requests: string[];
let models: string[];
let status: number;

const ANSWER = {
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "ok" } }],
};

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "holdfast-doctor-"));
  [requests, models, status] = [[], ["gpt-5.1", "gpt-5.1-mini"], 200];
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    const isOllama = request.url === "/api/tags";
    const list = isOllama
      ? { models: models.map((name) => ({ name })) }
      : { data: models.map((id) => ({ id })) };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(
      JSON.stringify(request.method === "GET" ? list : { id: "1", object: "chat.completion", ...ANSWER }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(home, { recursive: true });
});

/** A port that `fetch` may be sent to and nobody listens on. */
const NOWHERE = "http://127.0.0.1:49151";

const environment = (env: Record<string, string>) => ({
  PATH: process.env["PATH"],
  HOME: home,
  HOLDFAST_STATE: join(home, "threads.db"),
  OLLAMA_HOST: NOWHERE,
  LM_STUDIO_BASE_URL: NOWHERE,
  ...env,
});

/** The same once with each flag, in a process of its own. */
const inProcess = (env: Record<string, string>, flags: string[][]) =>
  inOneProcess(
    flags.map((flag) => ({ args: ["doctor", ...flag] })),
    { cwd: home, env: environment(env) },
  );

const doctor = (env: Record<string, string>, ...args: string[]) =>
  inPipes(["doctor", ...args], { cwd: home, env: environment(env) });

const openai = () => ({
  HOLDFAST_MODEL: "openai-compatible:gpt-5.1",
  HOLDFAST_API_KEY: "sk-secret",
  HOLDFAST_BASE_URL: `${url}/v1`,
});

it("doctor tests address and key for free, and marks findings as not tested", async () => {
  const env = { ...openai(), GROQ_API_KEY: "gsk-secret", EDITOR: "code --wait" };
  const [{ code, out } = { code: 1, out: "" }] = await inProcess(env, [[]]);
  expect(requests).toEqual(["GET /v1/models"]);
  expect(out).toContain(
    "✓ model: openai-compatible:gpt-5.1 (HOLDFAST_MODEL; HOLDFAST_API_KEY, HOLDFAST_BASE_URL set); OpenAI-compatible answers and has it\n",
  );
  expect(out).toContain("· Groq: GROQ_API_KEY set (not tested: another model is used)\n");
  expect(out).toContain(`· no Ollama server at ${NOWHERE}\n`);
  expect(out).toContain("· editor: code --wait (EDITOR; not tested)\n");
  expect(out).toContain("✓ terminal: plain lines (standard output is no terminal)");
  expect(out).toMatch(/^✓ Holdfast \d+\.\d+\.\d+, Node [\d.]+ on \w+ \w+, langchain 1\.\d+/m);
  expect(out).toMatch(/^[✓·] bubblewrap (?:works.*system calls.*limits on .*open files|does not work)/m);
  expect(out).not.toContain("secret");
  expect(code).toBe(0);
});

it("doctor --ask has the model answer, and says how long it took", async () => {
  const { code, out } = await doctor(openai(), "--ask");
  expect(requests).toEqual(["GET /v1/models", "POST /v1/chat/completions"]);
  expect(out).toMatch(/^✓ openai-compatible:gpt-5\.1 answered a question in \d+\.\d s$/m);
  expect(code).toBe(0);
});

it("doctor reports a refused key, an unreachable server and a missing model", async () => {
  status = 401;
  const refused = await doctor(openai());
  expect(refused.out).toMatch(
    /^✗ model: .*\n {4}OpenAI-compatible did not accept the API key \(401\): check HOLDFAST_API_KEY\.$/m,
  );
  expect(refused.code).toBe(1);
  const gone = await doctor({ HOLDFAST_MODEL: "ollama:qwen3" });
  expect(gone.out).toContain(`No Ollama server at ${NOWHERE}: start it with \`ollama serve\``);
  expect(gone.code).toBe(1);

  status = 200;
  models = ["llama4:latest"];
  const missing = await doctor({ HOLDFAST_MODEL: "ollama:qwen3", OLLAMA_HOST: url });
  expect(missing.out).toContain(
    "✗ model: ollama:qwen3 (HOLDFAST_MODEL; OLLAMA_HOST set); Ollama answers, but does not list it\n",
  );
  expect(missing.out).toContain("There are llama4:latest; get it with `ollama pull qwen3`.");
  expect(missing.code).toBe(1);
  expect((await doctor({ HOLDFAST_MODEL: "ollama:llama4", OLLAMA_HOST: url })).code).toBe(0);
});

it.runIf(isRelease)("doctor shows no credentials, wherever they stand", async () => {
  const secrets = {
    OLLAMA_HOST: "http://me:open-sesame@127.0.0.1:49151?token=open-sesame",
    LM_STUDIO_BASE_URL: "http://127.0.0.1:49151/v1?key=open-sesame",
    EDITOR: "code --proxy https://me:open-sesame@proxy.example/?api_key=open-sesame",
    GROQ_API_KEY: "open-sesame",
  };
  models = ["open-sesame"];
  const ended = await inProcess({ ...openai(), ...secrets }, [["--json"], ["--ask"]]);
  expect(ended).toHaveLength(2);
  for (const { out, err } of ended) {
    expect(out).toContain("no Ollama server at http://127.0.0.1:49151");
    expect(out).toContain("code --proxy");
    expect(out + err).not.toContain("open-sesame");
  }
});

it("doctor --json says of each finding whether it was tested", async () => {
  const { out } = await doctor({ ...openai(), GROQ_API_KEY: "x" }, "--json");
  const findings = out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { area: string; text: string });
  expect(findings.find(({ area }) => area === "model")).toMatchObject({ level: "ok", tested: true });
  expect(findings.find(({ text }) => text.startsWith("Groq"))).toMatchObject({
    level: "note",
    tested: false,
  });
  expect(findings.find(({ area }) => area === "storage")).toMatchObject({ level: "ok", tested: true });
});

it("doctor ticks only MCP servers that it has started, and names a missing package", async () => {
  writeFileSync(join(home, ".mcp.json"), '{"mcpServers":{"one":{"command":"true"}}}');
  mkdirSync(join(home, ".git"));
  const place = { cwd: home, env: environment({}) };
  await sayTrust(home, true, place.env);
  const inFile = async (state: "installed" | undefined) =>
    (await projectFindings(place, { stateOf: () => state })).findings.find(({ text }) =>
      text.includes(".mcp.json"),
    );
  expect(await inFile("installed")).toMatchObject({ level: "note", tested: false });
  expect(await inFile(undefined)).toMatchObject({
    level: "problem",
    fix: "npm install @modelcontextprotocol/client@2",
  });
});

it.runIf(isRelease)(
  "doctor reads every page of a thread file, even of a file too large for startup",
  async () => {
    const file = join(home, "threads.db");
    const saver = await sqliteSaver(file);
    for (let at = 0; statSync(file).size < 36_000_000; at += 1) {
      const id = `1f0${String(at).padStart(5, "0")}-0000-6000-8000-000000000000`;
      const text = randomBytes(3_000_000).toString("base64");
      await saver.put(
        { configurable: { thread_id: "large", checkpoint_ns: "" } },
        { v: 4, id, ts: "", channel_values: { text }, channel_versions: { text: at + 1 }, versions_seen: {} },
        { source: "loop", step: at, parents: {} },
        { text: at + 1 },
      );
    }
    saver.close();
    expect((await doctor(openai())).out).toMatch(/✓ storage: .* \(1 thread, [\d.]+ MB; all of it was read\)/);

    const handle = openSync(file, "r+");
    for (let page = 3000; page < 3010; page += 1)
      writeSync(handle, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
    closeSync(handle);
    const damaged = await doctor(openai());
    expect(damaged.out).toMatch(/^✗ storage: .*threads\.db is damaged \(\d+ problems?\)$/m);
    expect(damaged.code).toBe(1);
  },
);
