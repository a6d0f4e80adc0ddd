import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, interrupt, MemorySaver, MessagesAnnotation, StateGraph } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { planMiddleware } from "../../../middleware/index.ts";
import { sqliteSaver, type SqliteSaver } from "../../../storage/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import { loadGraphs } from "../../cli/commands/servers/graph-files.ts";
import type { GraphSource } from "../graphs.ts";
import { createServer, type Server } from "../server.ts";

let folder: string;
let saver: SqliteSaver;
let server: Server;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-graphs-"));
  saver = await sqliteSaver(join(folder, "threads.db"));
});
afterEach(async () => {
  await server?.close();
  saver.close();
  rmSync(folder, { recursive: true });
});

const serve = async (graphs: Record<string, GraphSource>): Promise<void> => {
  server = await createServer({ graphs, checkpointer: saver, token: "secret", page: true });
};

async function call(method: string, path: string, body?: object): Promise<{ status: number; body: Body }> {
  const request = new Request(`http://127.0.0.1${path}`, {
    method,
    headers: { authorization: "Bearer secret", "content-type": "application/json", host: "127.0.0.1" },
    body: body ? JSON.stringify(body) : undefined,
  });
  const response = await server.fetch(request);
  return { status: response.status, body: (await response.json()) as Body };
}

interface Body {
  message?: string;
  thread: { id: string; status: string; todos: { done: number; total: number } };
  questions: { id: string; kind: string }[];
  events: { type: string; text?: string }[];
  todos: { content: string }[];
}

/** A thread once it is no longer at work. */
async function settled(id: string): Promise<Body> {
  for (;;) {
    const { body } = await call("GET", `/holdfast/threads/${id}`);
    if (body.thread.status !== "running") return body;
    await new Promise(setImmediate);
  }
}

/** A graph without a model, which asks before it answers. */
const asking = () =>
  new StateGraph(Annotation.Root({ ...MessagesAnnotation.spec }))
    .addNode("ask", () => ({
      messages: [new AIMessage(`You said ${interrupt("Which colour?")}.`)],
    }))
    .addEdge("__start__", "ask")
    .addEdge("ask", "__end__")
    .compile();

it("LangChain's own agent has its plan, its events and edits of its plan on the page", async () => {
  const model = new ScriptedModel([
    callTool("write_todos", { todos: ["Count the boats", "Count the nets"] }),
    callTool("update_todos", { done: "1", note: "there are three" }),
    "Three boats; the nets are not counted.",
    "Three boats; the nets are not counted.",
  ]);
  const agent = createAgent({ model, tools: [], middleware: [planMiddleware({ verify: false })] });
  await serve({ counter: agent, other: asking() });
  expect((await call("GET", "/holdfast/info")).body).toMatchObject({ graphs: ["counter", "other"] });

  const { body } = await call("POST", "/holdfast/threads", { task: "Count them" });
  const { id } = body.thread;
  const opened = await settled(id);
  expect(opened.thread.todos).toEqual({ done: 1, total: 2 });
  expect(opened.events.map(({ type }) => type)).toContain("plan-change");
  const { body: list } = await call("GET", "/holdfast/threads");
  expect(JSON.stringify(list)).toContain(id);

  const { values } = (await call("GET", `/threads/${id}/state`)).body as unknown as { values: Body };
  const edit = { base: values.todos, todos: [...values.todos, { content: "Count the oars" }] };
  const edited = await call("PUT", `/holdfast/threads/${id}/plan`, edit);
  expect(edited.body.todos.map(({ content }) => content)).toEqual([
    "Count the boats",
    "Count the nets",
    "Count the oars",
  ]);
});

it("a thread of a user's graph takes a next message, an undo, and a fork", async () => {
  const model = new ScriptedModel(["Three boats.", "Two nets.", "Two nets."]);
  await serve({ counter: asking(), other: createAgent({ model, tools: [] }) });
  const { body } = await call("POST", "/holdfast/threads", { task: "Count the boats", graph: "other" });
  const { id } = body.thread;
  expect((await settled(id)).thread).not.toHaveProperty("isForeign");

  expect((await call("POST", `/holdfast/threads/${id}/runs`, { task: "And the nets" })).status).toBe(202);
  expect(JSON.stringify((await settled(id)).events)).toContain("Two nets.");
  const fork = await call("POST", `/holdfast/threads/${id}/fork`, {});
  expect(fork.status).toBe(201);
  expect(fork.body.thread).not.toHaveProperty("isForeign");
  expect((await call("POST", `/holdfast/threads/${id}/undo`)).status).toBe(200);
  const { body: list } = await call("GET", "/holdfast/threads");
  expect(JSON.stringify(list)).not.toContain("isForeign");
});

it("any graph can ask on the page, and continues with the answer", async () => {
  await serve({ counter: asking(), other: asking() });
  const { body } = await call("POST", "/holdfast/threads", { task: "Paint it", graph: "other" });
  const { id } = body.thread;
  const { questions, thread } = await settled(id);
  expect(thread.status).toBe("waiting");
  const answers = { answers: { [questions[0]!.id]: "green" } };
  expect((await call("POST", `/holdfast/threads/${id}/answers`, answers)).status).toBe(202);
  const done = await settled(id);
  expect(done.thread).toMatchObject({ status: "done", title: "Paint it" });
  expect(JSON.stringify(done.events)).toContain("You said green.");
  expect((await saver.ledger.thread(id))?.graph).toBe("other");
});

it("settings are refused, and so are graphs and stores that it does not have", async () => {
  await serve({ counter: asking() });
  const settings = await call("POST", "/holdfast/threads", { task: "Go", settings: { mode: "ask" } });
  expect(settings).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining("do not apply") },
  });
  const graph = await call("POST", "/holdfast/threads", { task: "Go", graph: "nobody" });
  expect(graph).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('no graph "nobody"') },
  });
  const memory = createServer({ graphs: { a: asking() }, checkpointer: new MemorySaver(), page: true });
  await expect(memory).rejects.toThrow("the page needs sqliteSaver");
});

it("graphs load from a file, a name or langgraph.json, and errors take one line", async () => {
  await serve({ counter: asking() });
  mkdirSync(join(folder, "src"));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  const code =
    'import { graph as make } from "./make.mjs";\nexport const graph = make();\nexport const second = make();\nexport const none = 1;\n';
  writeFileSync(join(folder, "src/make.mjs"), "export const graph = () => ({ stream: async () => {} });\n");
  writeFileSync(join(folder, "src/agent.mjs"), code);
  writeFileSync(
    join(folder, "src/typed.ts"),
    `type A = string;\n${code.replace("make()", "make() as unknown as A")}`,
  );
  writeFileSync(join(folder, "src/broken.mjs"), "export const graph = ;\n");
  const config = { graphs: { one: "./src/agent.mjs", two: "./src/typed.ts:second" } };
  writeFileSync(join(folder, "langgraph.json"), JSON.stringify(config));
  expect(Object.keys(await loadGraphs("src/agent.mjs", folder))).toEqual(["agent"]);
  expect(Object.keys(await loadGraphs("src/typed.ts:second", folder))).toEqual(["second"]);
  expect(Object.keys(await loadGraphs("langgraph.json", folder))).toEqual(["one", "two"]);
  await expect(loadGraphs("src/agent.mjs:none", folder)).rejects.toThrow(
    /does not export a graph named none; it exports graph, none, second/,
  );
  await expect(loadGraphs("src/nobody.mjs", folder)).rejects.toThrow("there is no such file");
  await expect(loadGraphs("src/broken.mjs", folder)).rejects.toThrow("cannot be loaded: ");
  await expect(loadGraphs("nobody.json", folder)).rejects.toThrow("nobody.json: there is no such file");
  writeFileSync(join(folder, "langgraph.json"), "{}");
  await expect(loadGraphs("langgraph.json", folder)).rejects.toThrow('langgraph.json: it needs "graphs"');
});
