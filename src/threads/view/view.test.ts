import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Todo } from "../../plan/index.ts";
import { countTodos } from "../../plan/index.ts";
import type { RunEvent, RunEventBody } from "../events/events.ts";
import { RUN_EVENT } from "../events/events.ts";
import { EMPTY_VIEW, helpersOf, MAIN, reduce, tokensOf, type RunView } from "./view.ts";

let at = 1000;
const stamped = (body: RunEventBody): RunEvent => ({ version: 1, at: (at += 10), thread: "t", ...body });
const play = (...bodies: RunEventBody[]): RunView =>
  bodies.map(stamped).reduce((view, event) => reduce(view, RUN_EVENT.parse(event)), EMPTY_VIEW);

const todo = (id: string, status: Todo["status"]): Todo => ({ id, content: `item ${id}`, status });
const plan = (todos: Todo[], owner: string = MAIN): RunEventBody => ({
  type: "plan-change",
  owner,
  by: "model",
  changes: [],
  counts: countTodos(todos),
  todos,
});
const start: RunEventBody = { type: "run-start", model: "offline", resumed: false };
const spent = (tokens: number, owner: string = MAIN): RunEventBody => ({
  type: "model-end",
  owner,
  text: "",
  usage: { inputTokens: tokens, outputTokens: 0, cachedTokens: 0 },
});
const HELPER = "main/general-purpose:call_1";

describe("the view of a run", () => {
  it("has the plan of the last change", () => {
    const view = play(start, plan([todo("1", "in_progress")]), plan([todo("1", "completed")]));
    expect(view.agents.get(MAIN)?.todos).toEqual([todo("1", "completed")]);
  });

  it("has the plan of a resumed thread", () => {
    const view = play(start, { type: "plan-snapshot", owner: MAIN, todos: [todo("1", "pending")] });
    expect(view.agents.get(MAIN)?.todos).toEqual([todo("1", "pending")]);
  });

  it("sums the tokens of all agents and of each agent", () => {
    const view = play(start, spent(10), spent(5, HELPER), spent(1));
    expect(tokensOf(view.usage)).toBe(16);
    expect(tokensOf(view.agents.get(HELPER)!.usage)).toBe(5);
  });

  it("counts the tokens spent on an item in progress, including sub-agents", () => {
    const view = play(
      start,
      spent(10),
      plan([todo("1", "in_progress"), todo("2", "pending")]),
      spent(7),
      plan([todo("1", "in_progress"), todo("2", "in_progress")]),
    );
    expect([...view.marks].map(([id, { tokens }]) => [id, tokens])).toEqual([
      ["1", 7],
      ["2", 0],
    ]);
  });

  it("shares no token out twice while several items are in progress", () => {
    const helper = {
      type: "subagent-start",
      owner: HELPER,
      name: "x",
      description: "",
      todoId: "2",
    } as const;
    const items = ["1", "2", "3"].map((id) => todo(id, "in_progress"));
    const view = play(
      start,
      plan(items),
      spent(9),
      helper,
      spent(40, HELPER),
      spent(5, `${HELPER}/y:b`),
      spent(8),
      { type: "subagent-end", owner: HELPER, name: "x", ok: true },
      spent(6),
    );
    const counted = [...view.marks.values()].map(({ tokens }) => tokens);
    expect(counted).toEqual([3 + 4 + 2, 3 + 40 + 5 + 2, 3 + 4 + 2]);
    expect(counted.reduce((sum, one) => sum + one)).toBe(tokensOf(view.usage));
  });

  it("nests a sub-agent under its parent until the sub-agent ends", () => {
    const events: RunEventBody[] = [
      start,
      { type: "subagent-start", owner: HELPER, name: "general-purpose", description: "look", todoId: "2" },
      plan([todo("1", "in_progress")], HELPER),
    ];
    expect(helpersOf(play(...events), MAIN)).toMatchObject([{ owner: HELPER, todoId: "2" }]);
    const ended = play(...events, { type: "subagent-end", owner: HELPER, name: "general-purpose", ok: true });
    expect(helpersOf(ended, MAIN)).toEqual([]);
  });

  it("shows a tool from its start to its end", () => {
    const call = { owner: MAIN, call: "c", name: "ls", about: "/" };
    const running = play(start, { type: "tool-start", ...call });
    expect([...running.agents.get(MAIN)!.tools.values()]).toMatchObject([{ name: "ls", about: "/" }]);
    const ended = play(
      start,
      { type: "tool-start", ...call },
      { type: "tool-end", ...call, ok: true, result: "" },
    );
    expect(ended.agents.get(MAIN)!.tools.size).toBe(0);
  });

  it("shows that an agent thinks until its first words, or waits to ask again", () => {
    const thinking: RunEventBody = { type: "model-start", owner: MAIN };
    const retry: RunEventBody = { type: "model-retry", owner: MAIN, seconds: 4, reason: "server busy" };
    const waiting = (...bodies: RunEventBody[]) => play(start, ...bodies).agents.get(MAIN)!.waiting;
    expect(waiting(thinking)).toEqual({ since: expect.any(Number) as number });
    expect(waiting(thinking, retry)).toMatchObject({ retry: { reason: "server busy" } });
    expect(waiting(thinking, retry, thinking)).not.toHaveProperty("retry");
    expect(waiting(thinking, { type: "text", owner: MAIN, text: "a" })).toBeUndefined();
    expect(waiting(thinking, spent(1))).toBeUndefined();
  });

  it("does not count as work the time in which a question waits", () => {
    const then = (time: number, body: RunEventBody): RunEvent => ({
      version: 1,
      thread: "t",
      ...body,
      at: time,
    });
    const question: RunEventBody = { type: "question", id: "q", kind: "other", text: "?", options: [] };
    const answer: RunEventBody = { type: "answer", id: "q", answer: "yes" };
    const view = [
      then(1000, start),
      then(2000, plan([todo("1", "in_progress")])),
      then(3000, question),
      then(4000, question),
      then(9000, answer),
      then(9000, answer),
    ].reduce(reduce, EMPTY_VIEW);
    expect(view.marks.get("1")?.at).toBe(2000 + 6000);
  });

  it("continues to count an item that started in an earlier run", () => {
    const actuals = {
      startedAt: 0,
      elapsedMs: 700,
      toolCalls: 1,
      modelCalls: 2,
      inputTokens: 30,
      outputTokens: 4,
    };
    const begun = { ...todo("1", "in_progress"), actuals };
    const atOnce = (body: RunEventBody): RunEvent => ({ version: 1, thread: "t", ...body, at: 5000 });
    const events: RunEventBody[] = [start, { type: "plan-snapshot", owner: "main", todos: [begun] }];
    const view = events.map(atOnce).reduce(reduce, EMPTY_VIEW);
    expect(view.marks.get("1")).toEqual({ at: 4300, tokens: 34 });
  });

  it("keeps what was spent on an item over a question and the run of its answer", () => {
    const told = (ms: number, body: RunEventBody): RunEvent => ({ version: 1, thread: "t", ...body, at: ms });
    const running = plan([todo("1", "in_progress")]);
    const counts = countTodos([todo("1", "in_progress")]);
    const usage = { inputTokens: 10, outputTokens: 0, cachedTokens: 0 };
    const events = [
      told(1000, start),
      told(2000, running),
      told(3000, spent(10)),
      told(4000, { type: "question", id: "q", kind: "permission", text: "", options: [] }),
      told(4000, { type: "run-end", outcome: "waiting", counts, exitCode: 3, usage }),
      told(9000, { ...start, resumed: true }),
      told(9000, { ...running, type: "plan-snapshot" } as RunEventBody),
      told(9500, spent(5)),
    ];
    const view = events.reduce(reduce, EMPTY_VIEW);
    expect(view.marks.get("1")).toEqual({ at: 7000, tokens: 15 });
  });

  it("is not changed in place by any event", () => {
    const kinds: RunEventBody[] = [
      start,
      spent(3),
      spent(2, HELPER),
      plan([todo("1", "in_progress")]),
      plan([todo("1", "completed")], HELPER),
      { type: "tool-start", owner: MAIN, call: "c", name: "ls", about: "" },
      { type: "tool-end", owner: MAIN, call: "c", name: "ls", about: "", ok: false, result: "" },
      { type: "subagent-start", owner: HELPER, name: "x", description: "" },
      { type: "subagent-end", owner: HELPER, name: "x", ok: true },
      { type: "model-start", owner: MAIN },
      { type: "model-retry", owner: MAIN, seconds: 4, reason: "server busy" },
      { type: "text", owner: MAIN, text: "a" },
      { type: "notice", text: "n" },
      { type: "question", id: "q", kind: "other", text: "?", options: [] },
      { type: "answer", id: "q", answer: "yes" },
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...kinds), { maxLength: 12 }), (bodies) => {
        let view = EMPTY_VIEW;
        for (const body of bodies) {
          const before = structuredClone(view);
          const next = reduce(view, stamped(body));
          expect(view).toEqual(before);
          view = next;
        }
      }),
      { numRuns: 50 },
    );
  });
});
