import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, it } from "vitest";
import { decisionsIn } from "../../../../test/contracts/questions.ts";
import { taskInput } from "../../../../test/helpers/models/run-thread.ts";
import { sqliteSaver, type SqliteSaver } from "../../../storage/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import { createRunAgent } from "../../../threads/prepare/agent.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { listen } from "../listen.ts";
import { createThreadsServer } from "../threads-server.ts";

let folder: string;
let saver: SqliteSaver;
let url: string;
let stop: () => Promise<void>;

const settings = { ...DEFAULT_SETTINGS, model: "scripted", ask: ["write_file"] };
const PLAN = callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] });
const WRITE = callTool("write_file", { file_path: "/secret.md", content: "secret" });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-users-"));
  saver = await sqliteSaver(join(folder, "threads.db"));
  const step = ({ messages }: { messages: BaseMessage[] }) =>
    messages.some((message) => message.getType() === "tool") ? WRITE : PLAN;
  const server = await createThreadsServer({
    saver,
    store: new InMemoryStore(),
    cwd: folder,
    defaults: settings,
    modelOf: async () => ({
      model: new ScriptedModel([step], { loop: true }),
      name: "scripted",
      source: "option",
      isFallback: false,
    }),
    auth: {
      authenticate: (request) => {
        const [, id] = /^Bearer key-(ann|ben)$/.exec(request.headers.get("authorization") ?? "") ?? [];
        return id === undefined ? undefined : { id };
      },
    },
    isOpen: false,
  });
  const listening = await listen(server, { port: 0, hostname: "127.0.0.1" });
  ({ url } = listening);
  stop = async () => {
    await server.close();
    await listening.close();
  };
});
afterEach(async () => {
  await stop();
  saver.close();
  rmSync(folder, { recursive: true });
});

const headers = (user: string) => ({
  authorization: `Bearer key-${user}`,
  "content-type": "application/json",
});

interface Body {
  thread: { id: string; status: string };
  threads: { id: string }[];
  questions: { id: string }[];
  checkpoints: { id: string }[];
  head: string;
  last: number;
}

async function send(
  user: string,
  method: string,
  path: string,
  given?: object,
): Promise<{ status: number; text: string; body: Body }> {
  const body = given === undefined ? {} : { body: JSON.stringify(given) };
  const response = await fetch(url + path, { method, headers: headers(user), ...body });
  const text = await response.text();
  return { status: response.status, text, body: (text ? JSON.parse(text) : undefined) as Body };
}

/** Begins a thread, and returns its name when it waits for leave to write. */
async function begin(user: string, task: string): Promise<string> {
  const { id } = (await send(user, "POST", "/holdfast/threads", { task })).body.thread;
  for (;;) {
    const { status } = (await send(user, "GET", `/holdfast/threads/${id}`)).body.thread;
    if (status === "waiting") return id;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A thread that no user of the server began. */
async function fromTerminal(): Promise<void> {
  const agent = createRunAgent({ settings, model: new ScriptedModel(["Hello."]), checkpointer: saver });
  const input = taskInput("From the terminal", { run: settings, title: "From the terminal" });
  await agent.graph.invoke(input as never, { configurable: { thread_id: "from-cli" } });
}

/** Every page route that names a thread. */
const routes = (thread: string, more: { question: string; checkpoint: string }) =>
  [
    ["GET", ""],
    ["POST", "/runs", { task: "Mine now" }],
    ["POST", "/resume", {}],
    ["POST", "/stop", {}],
    ["POST", "/answers", { answers: { [more.question]: { type: "approve" } } }],
    ["PUT", "/plan", { todos: [], base: [] }],
    ["POST", "/fork", {}],
    ["POST", "/fork", { checkpoint: more.checkpoint }],
    ["GET", "/history"],
    ["GET", `/checkpoints/${more.checkpoint}`],
    ["GET", "/files"],
    ["GET", "/file?path=/secret.md"],
    ["DELETE", ""],
  ].map(([method, path, body]) => ({
    method: method as string,
    path: `/holdfast/threads/${thread}${path as string}`,
    body: body as object | undefined,
  }));

it("a thread of one user does not exist for another, on any route of the page", async () => {
  const thread = await begin("ann", "Write a secret");
  const before = (await send("ann", "GET", `/holdfast/threads/${thread}`)).body;
  const more = { question: before.questions[0]!.id, checkpoint: before.head };
  const unknown = routes("no-such-thread", more);
  for (const [at, { method, path, body }] of routes(thread, more).entries()) {
    const what = `${method} ${path}`;
    const answer = await send("ben", method, path, body);
    expect(answer.status, what).toBe(404);
    const other = await send("ben", method, unknown[at]!.path, unknown[at]!.body);
    expect(answer.text.replaceAll(thread, "no-such-thread"), what).toBe(other.text);
    expect((await send("eve", method, path, body)).status, what).toBe(401);
  }
  const after = (await send("ann", "GET", `/holdfast/threads/${thread}`)).body;
  expect({ ...after, last: 0 }).toEqual({ ...before, last: 0 });
});

it("a decision is recorded with its user, on the page and by LangGraph's protocol", async () => {
  const thread = await begin("ann", "Write a secret");
  const open = async () => (await send("ann", "GET", `/holdfast/threads/${thread}`)).body.questions[0]?.id;
  const first = await open();
  const yes = { type: "approve", by: "boss" };
  await send("ann", "POST", `/holdfast/threads/${thread}/answers`, { answers: { [first!]: yes } });
  await expect.poll(open).not.toBeOneOf([first, undefined]);
  const no = { type: "reject", message: "not again", by: "boss" };
  const given = { assistant_id: "holdfast", command: { resume: { [(await open())!]: no } } };
  expect(await send("ann", "POST", `/threads/${thread}/runs/wait`, given)).toMatchObject({ status: 200 });
  expect(await decisionsIn(saver)).toEqual([
    { type: "approve", by: "ann" },
    { type: "reject", message: "not again", by: "ann" },
  ]);
});

it("each user's list has only their threads, and no threads of the command line", async () => {
  await fromTerminal();
  const own = { ann: await begin("ann", "First"), ben: await begin("ben", "Second") };
  for (const user of ["ann", "ben"] as const) {
    const { body, text } = await send(user, "GET", "/holdfast/threads");
    expect(body.threads.map(({ id }) => id)).toEqual([own[user]]);
    expect(text).not.toContain("from-cli");
    const page = await send(user, "GET", `/holdfast/threads?before=${own[user === "ann" ? "ben" : "ann"]}`);
    expect(page.body.threads.map(({ id }) => id)).toEqual([own[user]]);
  }
  expect((await send("ann", "GET", "/holdfast/threads/from-cli")).status).toBe(404);
  const fork = await send("ann", "POST", `/holdfast/threads/${own.ann}/fork`, {});
  expect((await send("ben", "GET", `/holdfast/threads/${fork.body.thread.id}`)).status).toBe(404);
});

/** Reads the stream of a user until something in it comes, from the beginning or from now. */
async function stream(user: string, until: (text: string) => boolean, after?: number): Promise<string> {
  const from = after === undefined ? "" : `?after=${after}`;
  const response = await fetch(`${url}/holdfast/events${from}`, { headers: headers(user) });
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (until(text)) break;
  }
  return text;
}

it("the stream shows nothing of other users' work or of terminal threads", async () => {
  await fromTerminal();
  // A gap of a thread says that it was looked at which ones others work on.
  const reading = stream("ben", (text) => text.includes("event: gap"));
  const anns = await begin("ann", "Write a diary");
  const path = `/holdfast/threads/${anns}`;
  const fork = (await send("ann", "POST", `${path}/fork`, {})).body.thread.id;
  await send("ann", "DELETE", `/holdfast/threads/${fork}`);
  await send("ann", "PUT", `${path}/plan`, { todos: [{ content: "Diary", status: "pending" }], base: [] });
  const bens = await begin("ben", "Something else");
  const held = await Promise.all(["from-cli", anns, bens].map((thread) => saver.acquireThread(thread)));
  const seen = await reading;
  await Promise.all(held.map((release) => release()));
  const threads = [...seen.matchAll(/"thread":"([^"]+)"/g)].map(([, thread]) => thread);
  expect(new Set(threads)).toEqual(new Set([bens]));
  for (const theirs of [anns, fork, "from-cli", "diary", "Diary"]) expect(seen).not.toContain(theirs);
  expect((await fetch(`${url}/holdfast/events`)).status).toBe(401);
});

it("a name that another user took over keeps the stream intact and private", async () => {
  const create = (user: string) => send(user, "POST", "/threads", { thread_id: "taken" });
  const first = await begin("ann", "Begin");
  const { last } = (await send("ann", "GET", `/holdfast/threads/${first}`)).body;
  expect((await create("ann")).status).toBe(200);
  expect((await send("ann", "DELETE", "/threads/taken")).status).toBe(204);
  expect((await create("ben")).status).toBe(200);
  const own = await begin("ann", "Go on");
  const seen = await stream("ann", (text) => text.includes('"type":"question"'), last);
  expect(seen).toContain(own);
  expect(seen.match(/^event: (?:thread|removed)\ndata: .*"taken"/gm)).toEqual([
    expect.stringContaining("event: removed"),
  ]);
});
