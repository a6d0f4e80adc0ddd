import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { countTodos, type Todo } from "../../../plan/index.ts";
import type { RunEvent, RunEventBody } from "../../../threads/events/events.ts";
import { EMPTY_VIEW, MAIN, reduce, type RunView } from "../../../threads/view/view.ts";
import { frame, type FrameOptions } from "./frame.ts";
import { plainPaint } from "./paint.ts";

const HELPER = "main/general-purpose:call_1";
const options: FrameOptions = { columns: 80, rows: 20, now: 61_000, paint: plainPaint };

const todo = (id: string, status: Todo["status"], more: Partial<Todo> = {}): Todo => ({
  id,
  content: `Item ${id}`,
  status,
  ...more,
});
const plan = (todos: Todo[], owner: string = MAIN): RunEventBody => ({
  type: "plan-change",
  owner,
  by: "model",
  changes: [],
  counts: countTodos(todos),
  todos,
});
const after = (before: RunView, at: number, ...bodies: RunEventBody[]): RunView =>
  bodies.map((body) => ({ version: 1, at, thread: "t", ...body }) satisfies RunEvent).reduce(reduce, before);
const view = (...bodies: RunEventBody[]): RunView =>
  after(EMPTY_VIEW, 1000, { type: "run-start", model: "m", resumed: false }, ...bodies);
const actuals = {
  startedAt: 0,
  elapsedMs: 5000,
  modelCalls: 1,
  toolCalls: 1,
  inputTokens: 900,
  outputTokens: 300,
};
const usage = { inputTokens: 2000, outputTokens: 500, cachedTokens: 0 };

describe("the live plan", () => {
  it("shows marks, the item in progress with its time and tokens, and the totals", () => {
    const lines = frame(
      view(
        plan([todo("1", "completed", { actuals }), todo("2", "in_progress"), todo("3", "pending")]),
        { type: "model-end", owner: MAIN, text: "", usage },
        { type: "tool-start", owner: MAIN, call: "c", name: "read_file", about: "/a.md" },
      ),
      { ...options, prices: { input: 3, output: 15, cached: 3 } },
    );
    expect(lines).toEqual([
      "[x] 1 Item 1 0:05 · 1.2k tokens",
      "[>] 2 Item 2 ⠋ · 1:00 · 2.5k tokens",
      "[ ] 3 Item 3",
      "⠋ 1/3 read_file /a.md 1:00 · 1:00 · 2.5k tokens · $0.0135 · under a minute left",
    ]);
  });

  it.each<[string, RunEventBody[]]>([
    ["thinking 1:00", [{ type: "model-start", owner: MAIN }]],
    [
      "running npm test 1:00",
      [{ type: "tool-start", owner: MAIN, call: "c", name: "execute", about: "npm test" }],
    ],
    [
      "retrying in 4 s (server busy)",
      [
        { type: "model-start", owner: MAIN },
        { type: "model-retry", owner: MAIN, seconds: 64, reason: "server busy" },
      ],
    ],
  ])("names the cause of its wait: %s", (text, events) => {
    expect(frame(view(...events), options)).toEqual([`⠋ no plan ${text} · 1:00`]);
  });

  it("shows the last lines that a command has printed, as far as there is room", () => {
    const running = view(
      plan([todo("1", "in_progress")]),
      { type: "tool-start", owner: MAIN, call: "c", name: "execute", about: "npm test" },
      { type: "tool-output", owner: MAIN, call: "c", text: "one\ntwo\nthree\nfour\n\u001b[31mfive" },
    );
    const [, status, ...output] = frame(running, options);
    expect(status).toContain("running npm test");
    expect(output).toEqual(["  two", "  three", "  four", "  five"]);
    expect(frame(running, { ...options, rows: 3 }).slice(2)).toEqual(["  five"]);
    expect(frame(running, { ...options, rows: 2 })).toHaveLength(2);
    const end = { type: "tool-end", owner: MAIN, call: "c", name: "execute", about: "", ok: true } as const;
    expect(frame(after(running, 1000, { ...end, result: "" }), options)).toHaveLength(2);
  });

  it("nests the plan of a sub-agent under the item that it works on", () => {
    const lines = frame(
      view(
        plan([todo("1", "in_progress"), todo("2", "pending")]),
        { type: "subagent-start", owner: HELPER, name: "general-purpose", description: "", todoId: "1" },
        plan([todo("1", "completed"), todo("2", "in_progress")], HELPER),
      ),
      options,
    );
    expect(lines.slice(0, 5)).toEqual([
      "[>] 1 Item 1 ⠋ · 1:00",
      "    general-purpose 1/2 1:00",
      "    [x] 1 Item 1",
      "    [>] 2 Item 2 ⠋",
      "[ ] 2 Item 2",
    ]);
  });

  it("has clocks that stop while a question waits, and then continue", () => {
    const begun = view(plan([todo("1", "in_progress")]), {
      type: "subagent-start",
      owner: HELPER,
      name: "general-purpose",
      description: "",
      todoId: "1",
    });
    const question: RunEventBody = { type: "question", kind: "permission", id: "q", text: "", options: [] };
    const asked = after(begun, 11_000, question);
    const stood = ["[>] 1 Item 1 ⠋ · 0:10", "    general-purpose 0:10", "⠋ 0/1 0:10"];
    expect(frame(asked, options)).toEqual(stood);
    const answered = after(asked, 61_000, { type: "answer", id: "q", answer: { type: "approve" } });
    expect(frame(answered, options)).toEqual(stood);
    expect(frame(answered, { ...options, now: 62_000 }).map((line) => /0:\d\d/.exec(line)?.[0])).toEqual([
      "0:11",
      "0:11",
      "0:11",
    ]);
  });

  it("says why an item is blocked", () => {
    expect(frame(view(plan([todo("1", "blocked", { note: "no key" })])), options)[0]).toBe(
      "[!] 1 Item 1 no key",
    );
  });

  it("keeps to its rows around the item in progress", () => {
    const todos = Array.from({ length: 40 }, (_, at) =>
      todo(String(at), at < 20 ? "completed" : at === 20 ? "in_progress" : "pending"),
    );
    const lines = frame(view(plan(todos)), { ...options, rows: 8 });
    expect(lines).toHaveLength(8);
    expect(lines.slice(0, 3)).toEqual(["… 19 above", "[x] 19 Item 19", "[>] 20 Item 20 ⠋ · 1:00"]);
    expect(lines.at(-2)).toBe("… 16 more");
  });

  it.each([1, 2, 5, 20, 200])(
    "fits %i columns, with wide characters and escape sequences in its items",
    (columns) => {
      const items = [todo("1", "in_progress", { content: "漢字と絵文字 👩‍👩‍👧 \u001B[2J\nand a second line" })];
      for (const line of frame(view(plan(items)), { ...options, columns })) {
        expect(stringWidth(line)).toBeLessThanOrEqual(Math.max(1, columns - 1));
        expect(line).not.toContain("\u001B");
        expect(line).not.toContain("\n");
      }
    },
  );

  it.each([1, 2, 3])("takes no more than %i rows when there is no room", (rows) => {
    const items = [
      todo("1", "completed"),
      todo("2", "in_progress"),
      todo("3", "pending"),
      todo("4", "pending"),
    ];
    expect(frame(view(plan(items)), { ...options, rows }).length).toBeLessThanOrEqual(rows);
  });

  it("is one line before there is a plan", () => {
    expect(frame(view(), options)).toEqual(["⠋ no plan 1:00"]);
  });
});
