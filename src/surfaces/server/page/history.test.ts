import { expect, it } from "vitest";
import {
  begin,
  DONE,
  eventsUntil,
  HEADERS,
  PLAN,
  saver,
  send,
  setStage,
  settled,
  start,
  url,
  WRITE,
  type Sse,
} from "../../../../test/helpers/page/threads-server.ts";
import { lookedAt } from "../../../../test/helpers/postgres/list-counter.ts";
import type { StampedEvent } from "../../../threads/log/thread-events.ts";
import { rulesOf, threadOf } from "../../../threads/log/thread.ts";

setStage();

it("the page lists checkpoints without reading messages, and yields after each", async () => {
  await start([PLAN, WRITE, DONE, "Done."]);
  const thread = await begin("Write a file");
  await settled(thread);
  const seen = lookedAt(saver);
  const listed = (await send("GET", `/threads/${thread}/history`)).body.checkpoints;
  expect(listed.length).toBeGreaterThan(3);
  expect(listed[0]!.todos).toEqual({ done: 1, total: 1 });
  expect(listed.at(-1)!.todos).toEqual({ done: 0, total: 0 });
  expect(seen).toEqual({ checkpoints: listed.length, turns: listed.length, looks: 0 });
});

it("the page counts the current plan after the user changed it during a question", async () => {
  await start([PLAN, WRITE, DONE, "Done."], { ask: ["write_file"] });
  const thread = await begin("Write a file");
  await settled(thread);
  const base = [{ id: "1", content: "Write", status: "in_progress" }];
  const edit = { todos: ["One", "Two", "Three"], base };
  expect((await send("PUT", `/threads/${thread}/plan`, edit)).status).toBe(200);
  const { checkpoints } = (await send("GET", `/threads/${thread}/history`)).body;
  expect(checkpoints[0]!.todos.total).toBe(3);
});

it("the user's rules for a plan appear at once, and when the thread is opened", async () => {
  await start([PLAN, WRITE, DONE, "Done."], { ask: ["write_file"] });
  const thread = await begin("Write a file");
  await settled(thread);
  const base = [{ id: "1", content: "Write", status: "in_progress" }];
  const edit = { todos: base, base, rules: ["  never touch date.js", ""] };
  expect((await send("PUT", `/threads/${thread}/plan`, edit)).status).toBe(200);
  const { events } = (await send("GET", `/threads/${thread}`)).body as unknown as { events: StampedEvent[] };
  expect(rulesOf(threadOf({ events, questions: [] }))).toEqual(["never touch date.js"]);
});

it("rules from a LangGraph client appear at once too, alone or with a plan", async () => {
  await start([PLAN, WRITE, DONE, "Done."], { ask: ["write_file"] });
  const thread = await begin("Write a file");
  await settled(thread);
  const todos = [{ id: "1", content: "Write", status: "in_progress" }, { content: "Check" }];
  for (const [values, total] of [
    [{ planRules: ["never touch date.js"] }, 1],
    [{ planRules: ["be quiet"], todos }, 2],
  ] as const) {
    const isRules = ({ data }: Sse): boolean => data["type"] === "plan-change" && "rules" in data;
    const events = await eventsUntil(isRules, {}, async () => {
      const body = JSON.stringify({ values });
      const { status } = await fetch(`${url}/threads/${thread}/state`, {
        method: "POST",
        headers: HEADERS,
        body,
      });
      expect(status).toBe(200);
    });
    expect(events.at(-1)!.data).toMatchObject({ by: "person", rules: values.planRules, counts: { total } });
  }
});

it("the page finds a thread's first files without reading later values", async () => {
  await start([PLAN, WRITE, DONE, "Done."]);
  const thread = await begin("Write a file");
  await settled(thread);
  const seen = lookedAt(saver);
  const { body } = await send("GET", `/threads/${thread}/files`);
  expect(body).toMatchObject({ files: [{ path: "/a.md", kind: "added" }] });
  expect(seen.checkpoints).toBe(0);
});
