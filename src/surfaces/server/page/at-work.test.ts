import { describe, expect, it, vi } from "vitest";
import {
  planEditContract,
  stepOf,
  type ModelTurn,
  type PlanSurface,
} from "../../../../test/contracts/plan-edits.ts";
import {
  begin,
  eventsUntil,
  open,
  saver,
  send,
  setStage,
  settled,
  start,
  type Opened,
  type Sse,
} from "../../../../test/helpers/page/threads-server.ts";
import type { Todo } from "../../../plan/index.ts";
import { callTool, type Step } from "../../../testing/index.ts";

setStage();

it("a thread is stopped, resumed, given another task, and tasks wait their turn", async () => {
  const gate = { isOpen: false, isReached: false };
  const slow: Step = async () => {
    gate.isReached = true;
    while (!gate.isOpen) await new Promise((resolve) => setTimeout(resolve, 5));
    return "First.";
  };
  await start([slow, "First, again.", slow, "Third."]);
  const thread = await begin("First");
  expect(await send("POST", `/threads/${thread}/resume`, {})).toMatchObject({ status: 409 });
  await vi.waitUntil(() => gate.isReached, 120_000);
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

it("a run that ends while its thread is read is shown once", async () => {
  await start(["First.", "Second."]);
  const thread = await begin("First");
  await settled(thread);
  let opened: Opened | undefined;
  const isEnd = ({ data }: Sse): boolean => data["type"] === "run-end";
  const sent = await eventsUntil(isEnd, {}, async () => {
    const reading = vi.spyOn(saver, "getValues");
    reading.mockImplementationOnce(async (...args) => {
      expect((await send("POST", `/threads/${thread}/runs`, { task: "Second" })).status).toBe(202);
      await settled(thread);
      return saver.getValues(...args);
    });
    opened = await open(thread);
    reading.mockRestore();
  });
  const { events, last } = opened!;
  const later = sent.filter(({ event, id }) => event === "run" && id > last).map(({ data }) => data);
  const answers = [...events, ...later].filter(({ type }) => type === "run-end");
  expect(answers).toMatchObject([{ answer: "First." }, { answer: "Second." }]);
});

it("the server refuses the second of two simultaneous requests to continue", async () => {
  const gate = { isSet: false, reached: 0, isOpen: false };
  const projectOf = async () => {
    // Both have seen that it is not at work before either begins.
    if (gate.isSet) gate.reached += 1;
    await vi.waitUntil(() => !gate.isSet || gate.reached > 1, 120_000);
    return { config: {}, skills: [], instructions: async () => "", mcp: { mcpServers: {} } };
  };
  const list = callTool("write_todos", { todos: [{ content: "One" }, { content: "Two" }] });
  // The first is still at work when the second asks.
  const later: Step = async () => {
    await vi.waitUntil(() => !gate.isSet || gate.isOpen, 120_000);
    return "Later.";
  };
  await start([list, ...Array.from({ length: 6 }, () => later)], {}, { projectOf });
  const thread = await begin("Plan it");
  expect((await settled(thread)).thread.status).toBe("stopped");
  gate.isSet = true;
  const resume = () => send("POST", `/threads/${thread}/resume`, {});
  const both = await Promise.all([resume(), resume()]);
  gate.isOpen = true;
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([202, 409]);
  const starts = (await settled(thread)).events.filter(({ type }) => type === "run-start");
  expect(starts).toHaveLength(2);
});

describe("the plan of a thread, on the page", () => {
  planEditContract(planOnPage);
});

async function planOnPage(): Promise<PlanSurface> {
  let turn: ModelTurn = async () => "ok";
  await start([stepOf((texts) => turn(texts))], {}, {}, { loop: true });
  let thread: string | undefined;
  const todos = ({ events }: Opened) =>
    (events.findLast(({ type }) => type === "plan-change") as unknown as { todos: Todo[] }).todos;
  return {
    run: async (next) => {
      turn = next;
      if (thread === undefined) thread = await begin("Garden");
      else
        expect(await send("POST", `/threads/${thread}/runs`, { task: "Go on" })).toMatchObject({
          status: 202,
        });
      await settled(thread);
    },
    plan: async () => todos(await open(thread!)),
    edit: async (wanted, base) => {
      const { status, body } = await send("PUT", `/threads/${thread}/plan`, { todos: wanted, base });
      if (status === 200) return body.todos as Todo[];
      const refused = body as unknown as { error: string; todos?: Todo[] };
      expect(status).toBe(refused.error === "plan-conflict" ? 409 : 422);
      throw Object.assign(new Error(refused.error), { code: refused.error, todos: refused.todos });
    },
  };
}
