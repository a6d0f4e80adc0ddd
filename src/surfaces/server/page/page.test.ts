import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import {
  begin,
  DONE,
  eventsUntil,
  folder,
  HEADERS,
  isEnd,
  open,
  PLAN,
  saver,
  send,
  setStage,
  settled,
  type Sse,
  start,
  stop,
  types,
  url,
  WRITE,
} from "../../../../test/helpers/page/threads-server.ts";
import { createDeepAgent } from "../../../deep/index.ts";
import { callTool, ScriptedModel } from "../../../testing/index.ts";
import type { StampedEvent } from "../../../threads/host/stream/live-events.ts";
import { DEFAULT_SETTINGS } from "../../../threads/prepare/settings.ts";
import { EMPTY_VIEW, reduce } from "../../../threads/view/view.ts";

setStage();

it("the end of a run reports its cost", async () => {
  const usage_metadata = { input_tokens: 2_000_000, output_tokens: 1_000_000, total_tokens: 3_000_000 };
  await start([Object.assign(new AIMessage("Done."), { usage_metadata })]);
  const { data } = (await eventsUntil(isEnd, {}, () => begin("Go"))).at(-1)!;
  expect(data["cost"]).toBe(3);
});

it("the server describes itself and the defaults of new threads", async () => {
  await start([], { dir: folder, approve: "first" });
  const { body } = await send("GET", "/info");
  expect(body).toMatchObject({
    model: "scripted",
    dir: folder,
    defaults: { approve: "first", preset: "lean" },
  });
});

it("a task starts a thread, and its streamed events match those of a later opening", async () => {
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
  // That a call has ended and what it changed in the plan are told in either order.
  const told = (all: readonly StampedEvent[]): string =>
    types(all).join(" ").replaceAll("tool-end plan-change", "plan-change tool-end");
  expect(told(opened.events)).toBe(told(live));
  const view = (all: readonly StampedEvent[]) => all.reduce(reduce, EMPTY_VIEW).agents.get("main")!;
  const ids = (all: readonly StampedEvent[]) =>
    view(all).todos.map(({ id, content, status }) => ({ id, content, status }));
  expect(ids(opened.events)).toEqual(ids(live));
  expect(view(opened.events).tools.size).toBe(0);
  const { body } = await send("GET", "/threads?query=write");
  expect(body).toEqual({ threads: [opened.thread], more: false });
  expect((await send("GET", "/threads?query=nothing")).body.threads).toEqual([]);
});

it("a disconnected reader gets the missed events, or a notice when they are unknown", async () => {
  await start(["One.", "Two."]);
  const first = await eventsUntil(isEnd, {}, () => begin("First"));
  expect(first[0]).toMatchObject({ event: "start", data: {} });
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

it("a thread in a directory shows its own changes there, and no other file", async () => {
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

it("a thread of the command line is listed, and continues on the page", async () => {
  const { createRunAgent } = await import("../../../threads/prepare/agent.ts");
  const { taskInput } = await import("../../../../test/helpers/models/run-thread.ts");
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

it("the page shows why a run failed after a reload, even for a run without a step", async () => {
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

it("the page shows a thread of another program, but cannot continue or change it", async () => {
  await start(["Never said."]);
  const theirs = createDeepAgent({
    model: new ScriptedModel([PLAN, "Mine.", "Mine.", "Mine."]),
    checkpointer: saver,
  });
  const place = { configurable: { thread_id: "theirs" } };
  await theirs.invoke({ messages: [{ role: "user", content: "My own" }] }, place);
  const { thread, events } = await open("theirs");
  expect(thread).toMatchObject({ id: "theirs", isForeign: true });
  expect(JSON.stringify(events)).toContain("My own");
  const head = await theirs.graph.getState(place);
  const tried: [string, string, object][] = [
    ["POST", "runs", { task: "Mine now" }],
    ["POST", "resume", {}],
    ["POST", "undo", {}],
    ["POST", "fork", {}],
    ["PUT", "plan", { todos: [], base: [] }],
    ["PATCH", "settings", { mode: "ask" }],
  ];
  for (const [method, path, body] of tried) {
    const answer = await send(method, `/threads/theirs/${path}`, body);
    expect([path, answer]).toMatchObject([path, { status: 422, body: { error: "invalid-request" } }]);
  }
  const after = await theirs.graph.getState(place);
  expect(after.config).toEqual(head.config);
  expect(await saver.ledger.thread("theirs")).toBeUndefined();
});
