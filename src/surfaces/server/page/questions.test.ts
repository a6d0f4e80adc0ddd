import { describe, expect, it, vi } from "vitest";
import { decisionOf, questionContract, textOf } from "../../../../test/contracts/questions.ts";
import {
  begin,
  DONE,
  eventsUntil,
  folder,
  isEnd,
  open,
  type Opened,
  PLAN,
  recover,
  saver,
  send,
  setStage,
  settled,
  start,
  types,
  WRITE,
} from "../../../../test/helpers/page/threads-server.ts";
import { callTool, type Step } from "../../../testing/index.ts";
import type { RunSettings } from "../../../threads/prepare/settings.ts";

setStage();

it("a thread opened before its first save shows the question that its run then asks", async () => {
  let isOpened = (): void => {};
  const opened = new Promise<void>((resolve) => (isOpened = resolve));
  let isAsked = (): void => {};
  const asked = new Promise<void>((resolve) => (isAsked = resolve));
  await start(
    [PLAN, "Done."],
    {},
    {
      projectOf: async (settings) => {
        // Who opens the thread does not know its settings yet, and is slow.
        if ((settings as RunSettings).approve === "first") await opened;
        else {
          isOpened();
          await asked;
        }
        return { config: {}, skills: [], instructions: async () => "", mcp: { mcpServers: {} } };
      },
    },
  );
  let opening: Promise<Opened> | undefined;
  await eventsUntil(isEnd, {}, async () => {
    opening = open(await begin("Go", { approve: "first" }));
  });
  isAsked();
  expect(await opening).toMatchObject({
    thread: { status: "waiting", title: "Go" },
    questions: [{ kind: "plan-approval" }],
  });
});

it("the server accepts an answer, and reports a conflict for a closed question", async () => {
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

it("a question is visible and can be answered before its run has ended", async () => {
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

it("a sub-agent's work appears once, also while another run continues it", async () => {
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

it("offers rules for a call and stores the one that the user allows", async () => {
  const stored: unknown[] = [];
  const allow = async (...rules: unknown[]): Promise<void> => void stored.push(rules);
  await start([WRITE, "Written."], { ask: ["write_file"], dir: folder }, { allow });
  const thread = await begin("First");
  const [question] = (await settled(thread)).questions;
  const { body } = await send("GET", `/threads/${thread}/offers`);
  expect(body.offers).toEqual({ [question!.id]: ["writes here"] });
  const answer = (always: string) =>
    send("POST", `/threads/${thread}/answers`, { answers: { [question!.id]: { type: "approve", always } } });
  expect((await answer("everything")).status).toBe(422);
  expect(stored).toEqual([]);
  expect((await answer("writes here")).status).toBe(202);
  expect(stored).toEqual([[folder, ["write_file", "edit_file"]]]);
  expect((await settled(thread)).thread.status).toBe("done");
});

it("offers no rules where none can be stored", async () => {
  await start([WRITE], { ask: ["write_file"], dir: folder });
  const thread = await begin("First");
  await settled(thread);
  expect((await send("GET", `/threads/${thread}/offers`)).body.offers).toEqual({});
});

it("holds a queued task until the question of the run before it is answered", async () => {
  const gate = { isOpen: false };
  const writes: Step = async () => {
    await vi.waitUntil(() => gate.isOpen, 120_000);
    return WRITE;
  };
  await start([writes, "Written.", "Second."], { ask: ["write_file"] });
  const thread = await begin("First");
  const queued = await send("POST", `/threads/${thread}/runs`, { task: "Second" });
  expect(queued.body.queued).toBe(true);
  gate.isOpen = true;
  const asked = await settled(thread);
  expect([asked.thread.status, asked.questions.length]).toEqual(["waiting", 1]);
  const answers = { [asked.questions[0]!.id]: { type: "approve" } };
  expect((await send("POST", `/threads/${thread}/answers`, { answers })).status).toBe(202);
  await vi.waitUntil(async () => tasksOf(await settled(thread)).length === 2, 120_000);
  const { events } = await settled(thread);
  expect(types(events)).toContain("answer");
  expect(tasksOf({ events })).toEqual(["First", "Second"]);
  expect(events.at(-1)).toMatchObject({ type: "run-end", outcome: "done", answer: "Second." });
});

it("starts a held task when the question is taken back", async () => {
  await start([WRITE, "Second."], { ask: ["write_file"] });
  await recover();
  const thread = await begin("First");
  await settled(thread);
  expect((await send("POST", `/threads/${thread}/runs`, { task: "Second" })).body.queued).toBe(true);
  expect((await open(thread)).thread.status).toBe("waiting");
  expect((await send("POST", `/threads/${thread}/undo`, {})).status).toBe(200);
  await vi.waitUntil(async () => tasksOf(await settled(thread)).includes("Second"), 120_000);
});

it("refuses a message to a thread with an open question, and keeps the question", async () => {
  await start([WRITE, "Written."], { ask: ["write_file"] });
  const thread = await begin("First");
  await settled(thread);
  expect(await send("POST", `/threads/${thread}/messages`, { task: "Hurry" })).toMatchObject({
    status: 409,
    body: { message: expect.stringContaining("answer it first") as string },
  });
  expect((await open(thread)).questions).toHaveLength(1);
});

const tasksOf = ({ events }: Pick<Opened, "events">): unknown[] =>
  events.flatMap((event) => (event.type === "run-start" && event.task ? [event.task] : []));

it("a plan is approved with another list", async () => {
  await start([PLAN, DONE, "Done."], { approve: "always" });
  const thread = await begin("Plan it");
  const [question] = (await settled(thread)).questions;
  expect(question).toMatchObject({ kind: "plan-approval", todos: [{ content: "Write" }] });
  const answers = {
    [question!.id]: { type: "edit", todos: [{ content: "Write it well", status: "in_progress" }] },
  };
  await send("POST", `/threads/${thread}/answers`, { answers });
  const plan = (await settled(thread)).events.findLast(({ type }) => type === "plan-change") as {
    todos: { content: string }[];
  };
  expect(plan.todos.map(({ content }) => content)).toEqual(["Write it well"]);
});

describe("on the page", () => {
  questionContract(() => ({
    dir: folder,
    store: () => saver,
    play: async ({ replies, settings, answers }) => {
      const model = await start([...replies], { dir: folder, ...settings });
      const thread = await begin("Go");
      const left = [...answers];
      while (left.length > 0) {
        const { questions } = await settled(thread);
        const given = questions.map(({ id }) => [id, decisionOf(left.shift()!)] as const);
        await send("POST", `/threads/${thread}/answers`, { answers: Object.fromEntries(given) });
      }
      await settled(thread);
      return model.requests.map(textOf);
    },
  }));
});
