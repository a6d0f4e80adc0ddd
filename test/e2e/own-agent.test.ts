import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { run } from "../helpers/terminal/run-program.ts";

/** The command as it is installed: with a LangGraph of its own, which is not the one that the agent loads. */
const MAIN = resolve("dist/surfaces/cli/main.js");
const from = (name: string): string => JSON.stringify(import.meta.resolve(name));
const ours = (path: string): string => JSON.stringify(pathToFileURL(resolve("dist", path)).href);

/** Agents that ask before each count. LangChain checks the state that the middleware of the second one requires. */
const AGENT = `
import { tool } from ${from("@langchain/core/tools")};
import { createAgent, humanInTheLoopMiddleware } from ${from("langchain")};
import { z } from ${from("zod")};
import { createDeepAgent } from ${ours("index.js")};
import { callTool, ScriptedModel } from ${ours("testing/index.js")};

const step = ({ messages }) => {
  const last = messages.at(-1);
  return last.type === "human" ? callTool("count", { what: "boats" }) : "The tool said: " + last.text;
};
const model = new ScriptedModel([step], { loop: true });
const count = tool(({ what }) => "one of " + what, {
  name: "count",
  description: "Counts.",
  schema: z.object({ what: z.string() }),
});
const interruptOn = { count: true };
export const plain = createAgent({ model, tools: [count], middleware: [humanInTheLoopMiddleware({ interruptOn })] });
export const deep = createDeepAgent({ model, tools: [count], interruptOn });
`;

const home = mkdtempSync(join(tmpdir(), "holdfast-own-"));
const options = { cwd: home, env: { PATH: process.env["PATH"], HOME: home } };
let server: ChildProcess | undefined;

const GRAPHS = { plain: "./agent.mjs:plain", deep: "./agent.mjs:deep" };

beforeAll(() => {
  writeFileSync(join(home, "agent.mjs"), AGENT);
  writeFileSync(join(home, "langgraph.json"), JSON.stringify({ graphs: GRAPHS }));
});
afterAll(() => {
  server?.kill("SIGKILL");
  rmSync(home, { recursive: true, force: true });
});

it("the built server gives a user's answer to an agent of the user's own", async () => {
  const flags = ["serve", "./langgraph.json", "--port", "0", "--state", "served.db"];
  server = spawn(process.execPath, [MAIN, ...flags], { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [server.stdout!, server.stderr!])
    stream.on("data", (piece: Buffer) => (output += piece.toString()));
  const [, url, token] = await vi.waitUntil(
    () => /^(http:\/\/127\.0\.0\.1:\d+)\/#token=(\S+)$/m.exec(output),
    120_000,
  );
  const call = async (method: string, path: string, body?: object): Promise<Body> => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(url + path, { method, headers, body: body ? JSON.stringify(body) : null });
    return (await response.json()) as Body;
  };
  const answers = [
    { answer: { type: "approve" }, words: "The tool said: one of boats" },
    { answer: { type: "reject", message: "look again" }, words: "look again" },
  ];
  const cases = Object.keys(GRAPHS).flatMap((graph) => answers.map((each) => ({ graph, ...each })));
  for (const { graph, answer, words } of cases) {
    const { thread } = await call("POST", "/holdfast/threads", { task: "Count the boats", graph });
    const place = `/holdfast/threads/${thread.id}`;
    const settled = (): Promise<Body> =>
      vi.waitUntil(async () => {
        const found = await call("GET", place);
        return found.thread.status !== "running" && found;
      }, 120_000);
    const { questions } = await settled();
    await call("POST", `${place}/answers`, { answers: { [questions[0]!.id]: answer } });
    const { thread: after, events } = await settled();
    expect([after.status, JSON.stringify(events)]).toEqual(["done", expect.stringContaining(words)]);
  }
});

interface Body {
  thread: { id: string; status: string };
  questions: { id: string }[];
  events: object[];
}

it("the built command gives an answer to an agent of the user's own", async () => {
  const holdfast = (...args: string[]) =>
    run(process.execPath, [MAIN, ...args, "--agent", GRAPHS.deep, "--state", "runs.db"], options);
  const asked = await holdfast("run", "--thread", "one", "Count the boats");
  expect(asked.stdout).toContain("count");
  const done = await holdfast("resume", "one", "--answer", "approve");
  expect([done.stderr, done.ok]).toEqual(["", true]);
  expect(done.stdout).toContain("The tool said: one of boats");
});
