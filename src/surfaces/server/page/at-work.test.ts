import { expect, it, vi } from "vitest";
import { begin, open, send, setStage, settled, start } from "../../../../test/page-stage.ts";
import { callTool, type Step } from "../../../testing/index.ts";
import { PlanEdits } from "../../../threads/plan/plan-edits.ts";

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

it("of two who want it to go on at the same moment the second is refused", async () => {
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
  const submit = vi.spyOn(PlanEdits.prototype, "submit");
  const put = send("PUT", `/threads/${thread}/plan`, {
    todos: [...base, { content: "Three", status: "pending" }],
    base,
  });
  await vi.waitUntil(() => submit.mock.calls.length > 0, 120_000);
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
    await send("PUT", `/threads/${thread}/plan`, { todos: [{ content: "", status: "pending" }], base: [] }),
  ).toMatchObject({ status: 422, body: { error: "invalid-plan" } });
});
