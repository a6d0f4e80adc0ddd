import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { InMemoryStore } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, it } from "vitest";
import { HarnessError } from "../../../errors.ts";
import type { StampedEvent } from "../../../runs/host/live-events.ts";
import type { Question } from "../../../runs/questions.ts";
import { DEFAULT_SETTINGS, type RunSettings } from "../../../runs/settings.ts";
import { EMPTY_VIEW, reduce } from "../../../runs/view.ts";
import { sqliteSaver, type SqliteSaver } from "../../../storage/index.ts";
import { callTool, ScriptedModel, type Step } from "../../../testing/index.ts";
import { listen } from "../listen.ts";
import { createThreadsServer } from "../threads-server.ts";
import type { PageThread } from "./thread-out.ts";

let folder: string;
let saver: SqliteSaver;
let url: string;
let stop: () => Promise<void>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-page-"));
  saver = await sqliteSaver(join(folder, "threads.db"));
});
afterEach(async () => {
  await stop();
  saver.close();
  rmSync(folder, { recursive: true });
});

async function start(steps: Step[], settings: Partial<RunSettings> = {}): Promise<void> {
  const model = new ScriptedModel(steps);
  const server = await createThreadsServer({
    saver,
    store: new InMemoryStore(),
    cwd: folder,
    defaults: { ...DEFAULT_SETTINGS, model: "scripted", ...settings },
    modelOf: async (name) => {
      if (name === "nobody:x") throw new HarnessError("invalid-model", "There is no provider nobody.");
      return { model, name: "scripted", source: "option", isFallback: false };
    },
    pricesOf: (name) => (name === "scripted" ? { input: 1, output: 1, cached: 1 } : undefined),
    token: "secret",
    isOpen: false,
  });
  const listening = await listen(server, { port: 0, hostname: "127.0.0.1" });
  ({ url } = listening);
  stop = async () => {
    await server.close();
    await listening.close();
  };
}

const HEADERS = { authorization: "Bearer secret", "content-type": "application/json" };

async function send(method: string, path: string, given?: object): Promise<{ status: number; body: Body }> {
  const body = given === undefined ? {} : { body: JSON.stringify(given) };
  const response = await fetch(`${url}/holdfast${path}`, { method, headers: HEADERS, ...body });
  const text = await response.text();
  return { status: response.status, body: (text ? JSON.parse(text) : undefined) as Body };
}

/** All that any answer has. */
interface Body extends Opened {
  threads: PageThread[];
  more: boolean;
  queued?: boolean;
  checkpoints: { id: string; todos: { done: number; total: number } }[];
  todos: { id: string; content: string; status: string }[];
}

interface Opened {
  thread: PageThread;
  settings: RunSettings;
  questions: Question[];
  head?: string;
  events: StampedEvent[];
  last: number;
}

async function open(thread: string): Promise<Opened> {
  return (await send("GET", `/threads/${thread}`)).body;
}

/** A thread once it is no longer at work. */
async function settled(thread: string): Promise<Opened> {
  for (;;) {
    const opened = await open(thread);
    if (opened.thread.status !== "running") return opened;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function begin(task: string, settings?: object): Promise<string> {
  const { status, body } = await send("POST", "/threads", {
    task,
    ...(settings && { settings }),
  });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.thread.id;
}

interface Sse {
  id: number;
  event: string;
  data: Record<string, unknown>;
}

/** Reads the stream until something comes. */
async function eventsUntil(
  isLast: (event: Sse) => boolean,
  headers: object = {},
  onOpen?: () => Promise<unknown>,
): Promise<Sse[]> {
  const response = await fetch(`${url}/holdfast/events`, { headers: { ...HEADERS, ...headers } });
  await onOpen?.();
  const events: Sse[] = [];
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string): string => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1] ?? "";
      if (!field("data")) continue;
      events.push({
        id: Number(field("id")),
        event: field("event"),
        data: JSON.parse(field("data")) as Sse["data"],
      });
    }
    const last = events.findIndex(isLast);
    if (last >= 0) return events.slice(0, last + 1);
  }
  return events;
}

const isEnd = ({ data }: Sse): boolean => data["type"] === "run-end";
const types = (events: readonly { type?: unknown }[]): unknown[] =>
  events.map(({ type }) => type).filter((type) => type !== "text");

const PLAN = callTool("write_todos", { todos: [{ content: "Write", status: "in_progress" }] });
const WRITE = callTool("write_file", { file_path: "/a.md", content: "one\ntwo\n" });
const DONE = callTool("update_todos", { done: ["1"] });

it("the end of a run says what it cost", async () => {
  const usage_metadata = { input_tokens: 2_000_000, output_tokens: 1_000_000, total_tokens: 3_000_000 };
  await start([Object.assign(new AIMessage("Done."), { usage_metadata })]);
  const { data } = (await eventsUntil(isEnd, {}, () => begin("Go"))).at(-1)!;
  expect(data["cost"]).toBe(3);
});

it("says what it is, and how new threads are run", async () => {
  await start([], { dir: folder, approve: "first" });
  const { body } = await send("GET", "/info");
  expect(body).toMatchObject({
    model: "scripted",
    dir: folder,
    defaults: { approve: "first", preset: "lean" },
  });
});

it("a task begins a thread, whose events come on the stream and are the same when it is opened later", async () => {
  await start([PLAN, WRITE, DONE, "It is written."]);
  let thread = "";
  const events = await eventsUntil(isEnd, {}, async () => {
    thread = await begin("Write a file");
  });
  const live = events
    .filter(({ event }) => event === "run")
    .map(({ data }) => data as unknown as StampedEvent);
  expect(events.map(({ id }) => id)).toEqual(events.map(({ id }) => id).toSorted((a, b) => a - b));
  expect(live[0]).toMatchObject({
    type: "run-start",
    task: "Write a file",
    thread,
    run: expect.any(String) as string,
  });
  expect(live.at(-1)).toMatchObject({ type: "run-end", outcome: "done", answer: "It is written." });
  expect(events.find(({ event }) => event === "thread")?.data).toMatchObject({
    id: thread,
    title: "Write a file",
  });

  const opened = await settled(thread);
  expect(opened.thread).toMatchObject({ status: "done", todos: { done: 1, total: 1 } });
  expect(opened.settings).toMatchObject({ model: "scripted", plan: true });
  expect(types(opened.events)).toEqual(types(live));
  const view = (all: readonly StampedEvent[]) => all.reduce(reduce, EMPTY_VIEW).agents.get("main")!;
  const ids = (all: readonly StampedEvent[]) =>
    view(all).todos.map(({ id, content, status }) => ({ id, content, status }));
  expect(ids(opened.events)).toEqual(ids(live));
  expect(view(opened.events).tools.size).toBe(0);
  const { body } = await send("GET", "/threads?query=write");
  expect(body).toEqual({ threads: [opened.thread], more: false });
  expect((await send("GET", "/threads?query=nothing")).body.threads).toEqual([]);
});

it("a reader that was cut off gets what it missed, and is told where that is not known", async () => {
  await start(["One.", "Two."]);
  const first = await eventsUntil(isEnd, {}, () => begin("First"));
  const again = await eventsUntil(isEnd, { "last-event-id": String(first[0]!.id) });
  expect(again.map(({ id }) => id)).toEqual(first.slice(1).map(({ id }) => id));
  const runs = (events: Sse[]): Sse[] => events.filter(({ event }) => event === "run");
  expect(runs(again)).toEqual(runs(first));
  const lost = await eventsUntil(isEnd, { "last-event-id": "12" }, () => begin("Second"));
  expect(lost[0]).toMatchObject({ event: "gap", data: {} });
});

it("to ask about the stream opens none", async () => {
  await start([]);
  for (let n = 0; n < 130; n += 1) {
    const { status } = await fetch(`${url}/holdfast/events`, { method: "HEAD", headers: HEADERS });
    expect(status).toBe(200);
  }
});

it("a question is answered, and an answer to one that is gone is a conflict", async () => {
  await start([WRITE, "Written."], { ask: ["write_file"] });
  const thread = await begin("Write a file");
  const { questions, events, thread: waiting } = await settled(thread);
  expect(waiting.status).toBe("waiting");
  expect(questions).toMatchObject([
    { kind: "permission", call: { name: "write_file", args: { file_path: "/a.md" } } },
  ]);
  expect(types(events).slice(-2)).toEqual(["question", "run-end"]);
  const answer = (value: unknown) =>
    send("POST", `/threads/${thread}/answers`, { answers: { [questions[0]!.id]: value } });
  expect(await answer("sure")).toMatchObject({ status: 422 });
  // As a terminal does that waits for the same answer.
  const release = await saver.acquireThread(thread);
  expect(await answer({ type: "approve" })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("answer it there") as string },
  });
  await release();
  const edited = {
    type: "edit",
    editedAction: { name: "write_file", args: { file_path: "/b.md", content: "b" } },
  };
  expect(await answer(edited)).toMatchObject({ status: 202, body: { run: expect.any(String) as string } });
  expect((await settled(thread)).thread.status).toBe("done");
  expect(await answer({ type: "approve" })).toMatchObject({ status: 409, body: { error: "conflict" } });
  const { body } = await send("GET", `/threads/${thread}/files`);
  expect(body).toEqual({ files: [{ path: "/b.md", added: 1, removed: 0, kind: "added" }] });
});

it("a question is there, and can be answered, as soon as it was asked: before its run has ended", async () => {
  let goOn = (): void => {};
  const ending = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const note = saver.noteProgress.bind(saver);
  // A slow disk at the end of the run.
  saver.noteProgress = async (...progress) => {
    await ending;
    await note(...progress);
  };
  await start([WRITE, "Written."], { ask: ["write_file"] });
  let thread = "";
  const events = await eventsUntil(
    ({ data }) => data["type"] === "question",
    {},
    async () => {
      thread = await begin("Write a file");
    },
  );
  const call = { owner: "main", name: "write_file", args: { file_path: "/a.md", content: "one\ntwo\n" } };
  expect(events.at(-1)?.data).toMatchObject({ call });
  const { questions, events: live, thread: shown } = await open(thread);
  expect(shown.status).toBe("running");
  expect(questions).toMatchObject([{ kind: "permission", call }]);
  expect(types(live).at(-1)).toBe("question");
  const answers = { [questions[0]!.id]: { type: "approve" } };
  const answered = send("POST", `/threads/${thread}/answers`, { answers });
  goOn();
  expect(await answered).toMatchObject({ status: 202 });
  expect((await settled(thread)).thread.status).toBe("done");
});

it("what a sub-agent did is told once, also while another run goes on with it", async () => {
  let goOn = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let reach = (): void => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const slow: Step = async () => {
    reach();
    await waiting;
    return "Written.";
  };
  const job = callTool("task", { description: "Write it", subagent_type: "general-purpose" });
  await start([job, WRITE, slow, "Done."], { ask: ["write_file"] });
  const thread = await begin("Have it written");
  const told = ({ events }: Opened): unknown[] =>
    types(events.filter((event) => "owner" in event && event.owner?.startsWith("main/")));
  const before = await settled(thread);
  expect(told(before)).toEqual(["subagent-start", "model-start", "model-end", "tool-start", "question"]);
  await send("POST", `/threads/${thread}/answers`, {
    answers: { [before.questions[0]!.id]: { type: "approve" } },
  });
  await reached;
  const during = told(await open(thread));
  expect(during.filter((type) => type === "model-end")).toHaveLength(1);
  expect(during.filter((type) => type === "tool-end")).toHaveLength(1);
  goOn();
  expect(told(await settled(thread)).slice(-3)).toEqual(["model-start", "model-end", "subagent-end"]);
});

it("a plan is approved with another list, and refused with a reason", async () => {
  await start([PLAN, DONE, "Done.", PLAN, "As you like.", "As you like.", "As you like."], {
    approve: "always",
  });
  const first = await begin("Plan it");
  const [question] = (await settled(first)).questions;
  expect(question).toMatchObject({ kind: "plan-approval", todos: [{ content: "Write" }] });
  const answers = {
    [question!.id]: { type: "edit", todos: [{ content: "Write it well", status: "in_progress" }] },
  };
  await send("POST", `/threads/${first}/answers`, { answers });
  const plan = (await settled(first)).events.findLast(({ type }) => type === "plan-change") as {
    todos: { content: string }[];
  };
  expect(plan.todos.map(({ content }) => content)).toEqual(["Write it well"]);
  const second = await begin("Plan it again");
  const [again] = (await settled(second)).questions;
  await send("POST", `/threads/${second}/answers`, {
    answers: { [again!.id]: { type: "reject", reason: "No", message: "No" } },
  });
  expect((await settled(second)).thread.todos.total).toBe(0);
});

it("a thread is stopped, resumed, given another task, and tasks wait their turn", async () => {
  const gate = { isOpen: false };
  const slow: Step = async () => {
    while (!gate.isOpen) await new Promise((resolve) => setTimeout(resolve, 5));
    return "First.";
  };
  await start([slow, "First, again.", slow, "Third."]);
  const thread = await begin("First");
  expect(await send("POST", `/threads/${thread}/resume`, {})).toMatchObject({ status: 409 });
  expect(await send("POST", `/threads/${thread}/stop`, {})).toEqual({ status: 200, body: { stopped: true } });
  expect((await open(thread)).thread.status).toBe("stopped");
  expect(await send("POST", `/threads/${thread}/stop`, {})).toEqual({
    status: 200,
    body: { stopped: false },
  });
  expect(await send("POST", `/threads/${thread}/resume`, {})).toMatchObject({ status: 202 });
  expect((await settled(thread)).thread.status).toBe("done");
  expect(await send("POST", `/threads/${thread}/resume`, {})).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("finished") as string },
  });
  const runs = [
    await send("POST", `/threads/${thread}/runs`, { task: "Second" }),
    await send("POST", `/threads/${thread}/runs`, { task: "Third" }),
  ];
  expect(runs.map(({ status }) => status)).toEqual([202, 202]);
  expect(runs[1]!.body.queued).toBe(true);
  gate.isOpen = true;
  const { events } = await settled(thread);
  const tasks = events.flatMap((event) => (event.type === "run-start" ? [event.task] : []));
  expect(tasks).toEqual(["First", "Second", "Third"]);
});

it("the plan is changed while the agent works, with its base, and a conflict shows the plan as it is", async () => {
  let go = (): void => {};
  const waiting = new Promise<void>((resolve) => {
    go = resolve;
  });
  const slow: Step = async () => {
    await waiting;
    return callTool("update_todos", { done: ["1"], start: ["2"] });
  };
  const list = callTool("write_todos", {
    todos: [{ content: "One", status: "in_progress" }, { content: "Two" }],
  });
  await start([list, slow, callTool("update_todos", { done: ["2"], cancel: ["3"] }), "Done."]);
  const thread = await begin("Plan it");
  let base: { id: string; content: string; status: string }[] = [];
  while (base.length === 0) {
    const change = (await open(thread)).events.findLast(({ type }) => type === "plan-change");
    base = change ? (change as unknown as { todos: typeof base }).todos : [];
  }
  const put = send("PUT", `/threads/${thread}/plan`, {
    todos: [...base, { content: "Three", status: "pending" }],
    base,
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  go();
  const { status, body } = await put;
  expect(status, JSON.stringify(body)).toBe(200);
  expect(body.todos.map(({ content }) => content)).toEqual(["One", "Two", "Three"]);
  const { events } = await settled(thread);
  const last = events.findLast(({ type }) => type === "plan-change") as unknown as { todos: typeof base };
  // What the agent did, before and after, is all there.
  expect(last.todos.map(({ content, status: now }) => `${content} ${now}`)).toEqual([
    "One completed",
    "Two completed",
    "Three cancelled",
  ]);
  const renamed = base.map((todo) => (todo.id === "1" ? { ...todo, status: "pending" } : todo));
  const conflict = await send("PUT", `/threads/${thread}/plan`, { todos: renamed, base });
  expect(conflict).toMatchObject({
    status: 409,
    body: { error: "plan-conflict", todos: expect.any(Array) as unknown[] },
  });
  expect(
    await send("PUT", `/threads/${thread}/plan`, { todos: [{ content: "", status: "pending" }] }),
  ).toMatchObject({ status: 422, body: { error: "invalid-plan" } });
});

it("the past is listed, opened and forked from", async () => {
  await start([PLAN, WRITE, DONE, "Done.", "More."]);
  const thread = await begin("Write a file");
  await settled(thread);
  const { body } = await send("GET", `/threads/${thread}/history?limit=3`);
  expect(body.checkpoints).toHaveLength(3);
  expect(body.more).toBe(true);
  const { body: rest } = await send("GET", `/threads/${thread}/history?before=${body.checkpoints[2]!.id}`);
  expect(rest.more).toBe(false);
  const all = [...body.checkpoints, ...rest.checkpoints];
  const half = all.find(({ todos }) => todos.total === 1 && todos.done === 0)!;
  const { body: then } = await send("GET", `/threads/${thread}/checkpoints/${half.id}`);
  expect(then.head).toBe(half.id);
  expect(types(then.events)).not.toContain("run-end".repeat(2));
  expect(then.events.length).toBeLessThan((await open(thread)).events.length);
  const { status, body: fork } = await send("POST", `/threads/${thread}/fork`, {
    checkpoint: half.id,
  });
  expect(status).toBe(201);
  expect(fork.thread).toMatchObject({
    title: "Write a file",
    todos: { done: 0, total: 1 },
    status: "stopped",
  });
  expect((await open(fork.thread.id)).events.map(({ type }) => type)).toEqual(
    then.events.map(({ type }) => type),
  );
  expect((await open(thread)).thread.todos).toEqual({ done: 1, total: 1 });
  expect(await send("GET", `/threads/${thread}/checkpoints/nothing`)).toMatchObject({ status: 404 });
  expect(await send("DELETE", `/threads/${fork.thread.id}`)).toMatchObject({ status: 204 });
  expect(await send("GET", `/threads/${fork.thread.id}`)).toMatchObject({
    status: 404,
    body: { error: "not-found" },
  });
});

it("a thread in a directory shows what it changed there, and nothing else of the disk", async () => {
  writeFileSync(join(folder, "b.md"), "old line\nsame\n");
  writeFileSync(join(folder, "secret.md"), "secret\n");
  const edit = callTool("edit_file", { file_path: "/b.md", old_string: "old line", new_string: "new line" });
  const read = callTool("read_file", { file_path: "/b.md" });
  await start([WRITE, read, edit, "Done."], { dir: folder });
  const thread = await begin("Change files");
  await settled(thread);
  const { body } = await send("GET", `/threads/${thread}/files`);
  expect(body).toEqual({
    files: [
      { path: "/a.md", added: 2, removed: 0, kind: "added" },
      { path: "/b.md", added: 1, removed: 1, kind: "changed" },
    ],
  });
  expect((await send("GET", `/threads/${thread}/file?path=/b.md`)).body).toEqual({
    path: "/b.md",
    before: "old line\nsame\n",
    after: "new line\nsame\n",
    isKnown: true,
  });
  for (const path of ["/secret.md", "/../secret.md", "/etc/passwd", "threads.db"]) {
    expect(await send("GET", `/threads/${thread}/file?path=${encodeURIComponent(path)}`)).toMatchObject({
      status: 404,
    });
  }
});

it("a task may be stricter than the server, never laxer", async () => {
  await start(["Hello."], { ask: ["write_file"], approve: "first" });
  expect(await send("POST", "/threads", { task: "x", settings: { shell: true } })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining("--shell") as string },
  });
  for (const settings of [{ trusted: true }, { dir: "/" }, { ask: ["rm"] }, { preset: "none" }]) {
    expect(await send("POST", "/threads", { task: "x", settings })).toMatchObject({ status: 422 });
  }
  expect(await send("POST", "/threads", { task: " " })).toMatchObject({ status: 422 });
  const thread = await begin("Say hello", { ask: ["edit_file"], plan: false, approve: "never" });
  expect((await settled(thread)).settings).toMatchObject({
    approve: "first",
    ask: ["write_file", "edit_file"],
    plan: false,
    shell: false,
  });
});

it("a task for a model that there is not is refused, and leaves no thread", async () => {
  await start([]);
  const { status, body } = await send("POST", "/threads", { task: "Look", settings: { model: "nobody:x" } });
  expect({ status, body }).toMatchObject({ status: 422, body: { message: "There is no provider nobody." } });
  expect((await send("GET", "/threads")).body.threads).toEqual([]);
});

it("a thread of the command line is there, and goes on here", async () => {
  const { createRunAgent } = await import("../../../runs/agent.ts");
  const { taskInput } = await import("../../../runs/drive.ts");
  const settings = { ...DEFAULT_SETTINGS, model: "scripted" };
  const agent = createRunAgent({
    settings,
    model: new ScriptedModel([PLAN, "Not yet.", "Not yet.", "Not yet."]),
    checkpointer: saver,
  });
  await agent.graph.invoke(
    taskInput("From the terminal", { run: settings, title: "From the terminal" }) as never,
    {
      configurable: { thread_id: "from-cli" },
    },
  );
  await start([DONE, "Now it is."]);
  const opened = await open("from-cli");
  expect(opened.thread).toMatchObject({
    title: "From the terminal",
    status: "stopped",
    todos: { done: 0, total: 1 },
  });
  await send("POST", "/threads/from-cli/resume", {});
  expect((await settled("from-cli")).thread).toMatchObject({ status: "done", todos: { done: 1, total: 1 } });
});

it("why a run failed is still to be seen when the page is loaded again, of a run that never began a step, too", async () => {
  await start([callTool("ls", { path: "/" }), new Error("The model is gone"), "Well."]);
  const thread = await begin("Look around");
  const { thread: after, events } = await settled(thread);
  expect(after.status).toBe("failed");
  expect(events.at(-1)).toMatchObject({
    type: "run-end",
    outcome: "failed",
    error: "scripted failed: The model is gone",
  });
  await stop();
  await start(["Well."]);
  expect((await open(thread)).events).toEqual(events);

  const [failed] = await saver.ledger.runs(thread);
  await saver.ledger.putRun({
    ...failed!,
    id: "later",
    createdAt: Date.now(),
    reason: "No key.",
    request: { input: { messages: "And now?" } },
  });
  const again = (await open(thread)).events.slice(events.length - 1);
  expect(again).toMatchObject([
    { type: "run-end", outcome: "done" },
    { type: "run-start", task: "And now?" },
    { type: "run-end", outcome: "failed", error: "No key." },
  ]);

  await send("POST", `/threads/${thread}/runs`, { task: "Go on" });
  expect((await settled(thread)).events.at(-1)).toMatchObject({ outcome: "done" });
});
