import { spawn, type ChildProcess } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
  packages: Record<string, { version: string }>;
};
/** A package as this project has it: newer ones need not go with the server. */
const ours = (name: string): string => `${name}@${lock.packages[`node_modules/${name}`]!.version}`;
/** The server wants another TypeScript than this project has, so it gets a folder of its own. */
const PACKAGES = [
  "@langchain/langgraph-cli@1.5.1",
  "@langchain/langgraph-api@1.5.1",
  ours("@langchain/core"),
  ours("@langchain/langgraph"),
  ours("@langchain/langgraph-checkpoint"),
  ours("@langchain/langgraph-sdk"),
  "typescript@^5.9.0",
];
const home = mkdtempSync(join(tmpdir(), "holdfast-server-"));
const config = resolve("test/helpers/server/langgraph.json");
let server: ChildProcess | undefined;
let log = "";

beforeAll(async () => {
  writeFileSync(join(home, "package.json"), '{ "private": true, "type": "module" }');
  const installed = await run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--prefer-offline", ...PACKAGES],
    { cwd: home },
  );
  if (!installed.ok) throw new Error(installed.stderr);
  copyFileSync("test/helpers/server/drive.mjs", join(home, "drive.mjs"));
});

afterAll(() => {
  if (server?.pid !== undefined) process.kill(-server.pid, "SIGKILL");
  rmSync(home, { recursive: true, force: true });
  rmSync("test/helpers/server/.langgraph_api", { recursive: true, force: true });
  rmSync("test/helpers/server/.gitignore", { force: true });
});

it("the repository's langgraph.json names graphs that exist", () => {
  const { graphs } = JSON.parse(readFileSync("langgraph.json", "utf8")) as { graphs: Record<string, string> };
  expect(Object.keys(graphs)).toEqual(["research", "lead"]);
  const served = JSON.parse(readFileSync(config, "utf8")) as { graphs: Record<string, string> };
  expect(resolve("test/helpers/server", served.graphs["example"]!)).toBe(resolve(graphs["lead"]!));
});

it("a LangGraph server runs both agents; a client sees plan, question and files", async () => {
  const port = await freePort();
  const cli = join(home, "node_modules/.bin/langgraphjs");
  const args = ["dev", "--no-browser", "--host", "127.0.0.1", "--port", String(port), "--config", config];
  // No model is configured, whatever the machine has.
  const env = { PATH: process.env["PATH"], HOME: home };
  server = spawn(cli, args, {
    cwd: "test/helpers/server",
    detached: true,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [server.stdout!, server.stderr!])
    stream.on("data", (text: Buffer) => (log += text.toString()));
  const url = `http://127.0.0.1:${port}`;
  await answering(`${url}/ok`);

  const { ok, stdout, stderr } = await run("node", ["drive.mjs", url], { cwd: home });
  expect(ok, `${stderr}\n${log}`).toBe(true);
  expect(JSON.parse(stdout)).toEqual({
    first: ["", "ipp", "cip"],
    question: expect.objectContaining({ type: "clarification", question: "Which one?", options: ["a", "b"] }),
    second: ["cip", "ccc"],
    answer: "Done. The user answers: b",
    off: "No plan needed.",
    kept: 3,
    inContext: ["Yes.", "No.", "Yes."],
    example: expect.stringContaining("I am `offline`, not a language model"),
    deep: ["", "ip", "ci", "cc"],
    files: { "/note.md": "looked" },
  });
});

async function freePort(): Promise<number> {
  return new Promise((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => found(port));
    });
  });
}

async function answering(url: string): Promise<void> {
  for (;;) {
    if (server!.exitCode !== null) throw new Error(`The server ended: ${log}`);
    const reply = await fetch(url).catch(() => undefined);
    if (reply?.ok) return;
    await new Promise((next) => setTimeout(next, 200));
  }
}
