// Counts the source files that run on three journeys, for `npm run figures`:
// a plan report from the model's message to the state, `holdfast run` from its arguments to the first model request, and
// a rejection on the page from the click to the next model request.
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InMemoryStore } from "@langchain/langgraph";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { planMiddleware } from "../src/middleware/index.ts";
import { sqliteSaver } from "../src/storage/index.ts";
import { cli } from "../src/surfaces/cli/cli.ts";
import { listen } from "../src/surfaces/server/listen.ts";
import { createThreadsServer } from "../src/surfaces/server/threads-server.ts";
import { callTool, ScriptedModel, type Step } from "../src/testing/index.ts";
import { DEFAULT_SETTINGS } from "../src/threads/prepare/settings.ts";
import { startModelServer } from "../test/helpers/models/model-server.ts";
import { pipes } from "../test/helpers/terminal/piped-command.ts";

const SOURCE = new URL("../src/", import.meta.url).href;
const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
const folder = mkdtempSync(join(tmpdir(), "holdfast-journeys-"));
process.env["HOLDFAST_HOME"] = folder;

/** The source files with a function that ran since the last call. */
async function filesRun(): Promise<string[]> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  return result
    .filter(({ url, functions }) => {
      const called = functions.filter(
        ({ functionName, ranges: [range] }) => functionName !== "" && range.count > 0,
      );
      return url.startsWith(SOURCE) && called.length > 0;
    })
    .map(({ url }) => url.slice(SOURCE.length).replace(/\?.*/, ""))
    .toSorted();
}

const work = tool(() => "Worked.", { name: "work", description: "Works.", schema: z.object({}) });

async function report(): Promise<string[]> {
  const steps: Step[] = [
    callTool("write_todos", { todos: ["One", "Two", "Three"] }),
    callTool("work", {}),
    callTool("update_todos", { done: "1" }),
    callTool("work", {}),
    async () => {
      await filesRun();
      return callTool("update_todos", { done: "2" });
    },
    async () => {
      files = await filesRun();
      return callTool("update_todos", { cancel: "3" });
    },
    "Done.",
  ];
  let files: string[] = [];
  const agent = createAgent({
    model: new ScriptedModel(steps),
    tools: [work],
    middleware: [planMiddleware()],
  });
  await agent.invoke({ messages: [{ role: "user", content: "Go." }] });
  return files;
}

async function firstRequest(): Promise<string[]> {
  let files: string[] | undefined;
  const server = await startModelServer(async () => {
    files ??= await filesRun();
    return undefined;
  });
  const env = {
    HOME: folder,
    HOLDFAST_HOME: folder,
    PATH: process.env["PATH"]!,
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: server.url,
  };
  const { terminal } = pipes({ cwd: folder, env });
  await filesRun();
  await cli(["run", "--dir", folder, "--model", "openai-compatible:any", "Say hello"], terminal);
  server.stop();
  return files ?? [];
}

async function rejection(): Promise<string[]> {
  let files: string[] = [];
  const model = new ScriptedModel([
    callTool("write_file", { file_path: "/a.txt", content: "A" }),
    async () => {
      files = await filesRun();
      return "Done.";
    },
  ]);
  const saver = await sqliteSaver(join(mkdtempSync(join(folder, "store-")), "threads.db"));
  const server = await createThreadsServer({
    saver,
    store: new InMemoryStore(),
    cwd: folder,
    defaults: { ...DEFAULT_SETTINGS, model: "scripted", dir: folder, mode: "ask" },
    modelOf: async () => ({ model, name: "scripted", source: "option", isFallback: false }),
    pricesOf: () => undefined,
    token: "secret",
    isOpen: false,
  });
  const { url, close } = await listen(server, { port: 0, hostname: "127.0.0.1" });
  const call = async (
    method: string,
    path: string,
    body?: object,
  ): Promise<{ thread: { id: string; status: string }; questions: { id: string }[] }> => {
    const headers = { authorization: "Bearer secret", "content-type": "application/json" };
    const response = await fetch(`${url}/holdfast${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
    });
    return JSON.parse(await response.text()) as never;
  };
  const settled = async (id: string) => {
    for (;;) {
      const opened = await call("GET", `/threads/${id}`);
      if (opened.thread.status !== "running") return opened;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const { thread } = await call("POST", "/threads", { task: "Write a file" });
  const { questions } = await settled(thread.id);
  await filesRun();
  await call("POST", `/threads/${thread.id}/answers`, {
    answers: { [questions[0].id]: { type: "reject", message: "Not there." } },
  });
  await settled(thread.id);
  await server.close();
  await close();
  saver.close();
  return files;
}

const journeys = { report, firstRequest, rejection };
const found: Record<string, string[]> = {};
for (const [name, journey] of Object.entries(journeys)) {
  // The first time also runs what the files do when they load.
  await journey();
  found[name] = await journey();
}
rmSync(folder, { recursive: true, force: true });
console.log(JSON.stringify(found));
process.exit(0);
