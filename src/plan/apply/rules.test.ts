import { describe, expect, it } from "vitest";
import { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "../todo/policy.ts";
import { EMPTY_PLAN, type Issue, type Plan, type Result, type Todo } from "../todo/todo.ts";
import { applyUpdate, applyWrite } from "./apply.ts";
import { checkTodos } from "./rules.ts";

function written(todos: unknown, policy: Policy = LEAN_POLICY, from: Plan = EMPTY_PLAN): Plan {
  return accepted(applyWrite(from, todos, policy)).plan;
}

function accepted(result: Result): Extract<Result, { ok: true }> {
  if (!result.ok) throw new Error(result.issues.map((issue) => issue.message).join(" "));
  return result;
}

function refused(result: Result): Issue[] {
  if (result.ok) throw new Error("The change was accepted.");
  return result.issues;
}

const messagesOf = (result: Result): string[] => refused(result).map(({ message }) => message);

const lines = (plan: Plan): string[] => plan.todos.map((todo) => `${todo.id} ${todo.content} ${todo.status}`);

/** Each rule: a change that breaks it, the refusal, the knob that lets it through, and what becomes of it then. */
const RULES: {
  name: string;
  policy?: Partial<Policy>;
  plan?: unknown;
  write?: unknown;
  update?: unknown;
  issue: Partial<Issue>;
  relaxed: Partial<Policy>;
  becomes: string[];
}[] = [
  {
    name: "content is not empty",
    write: ["a", { content: "  " }],
    issue: { rule: "content", item: "todos[1]", field: "content", sent: "", valid: "a non-empty string" },
    relaxed: { emptyContent: "drop" },
    becomes: ["1 a in_progress"],
  },
  {
    name: "a status is one that exists",
    write: [{ content: "a", status: "perhaps" }],
    issue: { rule: "status", item: "todos[0]", field: "status", sent: "perhaps" },
    relaxed: { unknownStatus: "pending" },
    becomes: ["1 a in_progress"],
  },
  {
    name: "ids are unique",
    write: [
      { id: 5, content: "a" },
      { id: 5, content: "b" },
    ],
    issue: { rule: "unique-id", item: "todos[1]", field: "id", sent: "5" },
    relaxed: { duplicateIds: "renumber" },
    becomes: ["5 a in_progress", "2 b pending"],
  },
  {
    name: "ids are known",
    plan: ["a"],
    update: { done: ["1", "9"] },
    issue: { rule: "known-id", item: "9", field: "done", sent: "9", valid: "1" },
    relaxed: { unknownIds: "ignore" },
    becomes: ["1 a completed"],
  },
  {
    name: "there are at most so many items",
    policy: { maxItems: 2 },
    write: ["a", "b", "c"],
    issue: { rule: "max-items", field: "todos", sent: 3, valid: "at most 2 items" },
    relaxed: { maxItems: 3 },
    becomes: ["1 a in_progress", "2 b pending", "3 c pending"],
  },
  {
    name: "at most so many items are in progress",
    policy: { maxInProgress: 1 },
    plan: ["a", "b"],
    update: { start: "2" },
    issue: {
      rule: "max-in-progress",
      item: "2",
      field: "status",
      sent: ["1", "2"],
      valid: "one item in_progress",
    },
    relaxed: { maxInProgress: 2 },
    becomes: ["1 a in_progress", "2 b in_progress"],
  },
  {
    name: "something is in progress unless nothing can be",
    policy: { idle: "refuse" },
    write: ["a"],
    issue: { rule: "idle", item: "1", field: "status", sent: "pending", valid: "in_progress" },
    relaxed: { idle: "allow" },
    becomes: ["1 a pending"],
  },
  {
    name: "a completed item is not reopened",
    plan: ["a", "b"],
    update: { done: "1", start: "1" },
    issue: { rule: "frozen", item: "1", field: "start", sent: "in_progress" },
    relaxed: { completed: "editable" },
    becomes: ["1 a in_progress", "2 b pending"],
  },
  {
    name: "a completed item is not rewritten",
    plan: [{ content: "a", status: "completed" }, "b"],
    write: [{ id: "1", content: "x" }, "b"],
    issue: { rule: "frozen", item: "1", field: "content", sent: "x" },
    relaxed: { completed: "editable" },
    becomes: ["1 x completed", "2 b in_progress"],
  },
  {
    name: "an item starts when its dependencies are completed",
    plan: ["a", { content: "b", after: [1] }],
    update: { start: "2" },
    issue: { rule: "dependency", item: "2", field: "status", sent: "in_progress" },
    relaxed: { earlyStart: "allow" },
    becomes: ["1 a in_progress", "2 b in_progress"],
  },
  {
    name: "an item is not completed before its dependencies",
    plan: ["a", { content: "b", after: [1] }],
    update: { done: "2" },
    issue: { rule: "dependency", item: "2", field: "status", sent: "completed" },
    relaxed: { earlyStart: "allow" },
    becomes: ["1 a in_progress", "2 b completed"],
  },
  {
    name: "dependencies do not go in a circle",
    write: [
      { content: "a", after: [2] },
      { content: "b", after: [1] },
    ],
    issue: { rule: "cycle", item: "1", field: "dependsOn", sent: "1 -> 2 -> 1" },
    relaxed: { cycles: "drop" },
    becomes: ["1 a pending", "2 b in_progress"],
  },
];

describe("each rule", () => {
  for (const { name, policy: base, plan: start, write, update, issue, relaxed, becomes } of RULES) {
    const policy = { ...LEAN_POLICY, ...base };
    const apply = (rules: Policy): Result => {
      const plan = start === undefined ? EMPTY_PLAN : written(start, rules);
      return write === undefined ? applyUpdate(plan, update, rules) : applyWrite(plan, write, rules);
    };
    it(`refuses: ${name}`, () => {
      expect(refused(apply(policy))).toContainEqual(
        expect.objectContaining({ ...issue, message: expect.any(String) }),
      );
    });
    it(`can be relaxed: ${name}`, () => {
      expect(lines(accepted(apply({ ...policy, ...relaxed })).plan)).toEqual(becomes);
    });
  }
});

describe("ids", () => {
  it("stay with an item that is rewritten in another order and letter case", () => {
    const first = written(["read it", "build", "check"], CLASSIC_POLICY);
    expect(lines(written(["Check.", "Read it", "new"], CLASSIC_POLICY, first))).toEqual([
      "3 Check. pending",
      "1 Read it pending",
      "4 new pending",
    ]);
  });

  it("are never given again after an item is gone", () => {
    let plan = written(["a", "b", "c"], CLASSIC_POLICY);
    plan = written(["a"], CLASSIC_POLICY, plan);
    plan = written(["a", "d"], CLASSIC_POLICY, plan);
    expect(lines(plan)).toEqual(["1 a pending", "4 d pending"]);
    const named = written([{ id: "x", content: "a" }], CLASSIC_POLICY);
    const gone = written([{ id: "y", content: "b" }], CLASSIC_POLICY, named);
    expect(lines(written([{ id: "x", content: "c" }], CLASSIC_POLICY, gone))).toEqual(["1 c pending"]);
  });

  it("continue counting in a new plan after a finished one", () => {
    const finished = written([{ content: "a", status: "completed" }]);
    const result = accepted(applyWrite(finished, ["a", "b"], LEAN_POLICY));
    expect(result.changes[0]).toEqual({ type: "plan-reset" });
    expect(lines(result.plan)).toEqual(["2 a in_progress", "3 b pending"]);
    const named = [
      { id: "1", content: "c" },
      { id: "x", content: "d", dependsOn: ["1"] },
    ];
    const next = accepted(applyWrite(finished, named, LEAN_POLICY));
    expect(next.plan.todos.map((todo) => [todo.id, todo.dependsOn])).toEqual([
      ["2", undefined],
      ["x", ["2"]],
    ]);
    expect(next.notes).toEqual([]);
    const over = accepted(applyUpdate(next.plan, { cancel: "2,x" }, LEAN_POLICY)).plan;
    expect(lines(written([{ id: "x", content: "e" }], LEAN_POLICY, over))).toEqual(["3 e in_progress"]);
    expect(
      lines(
        written(["a"], CHECKLIST_POLICY, written([{ text: "b", status: "completed" }], CHECKLIST_POLICY)),
      ),
    ).toEqual(["1 a pending"]);
  });

  it("mean positions when they come from an earlier plan, in every operation", () => {
    const second = written(
      ["a", "b", "c"],
      LEAN_POLICY,
      written([
        { content: "x", status: "completed" },
        { content: "y", status: "cancelled" },
        { content: "z", status: "completed" },
      ]),
    );
    const result = accepted(
      applyUpdate(
        second,
        { done: "1", edit: [{ id: "2", content: "B" }], add: [{ content: "d", before: "3" }] },
        LEAN_POLICY,
      ),
    );
    expect(lines(result.plan)).toEqual(["4 a completed", "5 B in_progress", "7 d pending", "6 c pending"]);
    expect(result.notes).toHaveLength(3);
    expect(applyUpdate(second, { done: "7" }, LEAN_POLICY)).toMatchObject({ ok: false });
  });

  it("match no other item after the user removed their item", () => {
    const [first, ...others] = written(["a", "b", "c"]).todos;
    const edited = accepted(
      applyWrite({ ...EMPTY_PLAN, todos: [first!, ...others], nextId: 4 }, others, LEAN_POLICY, {
        author: "person",
      }),
    ).plan;
    expect(applyUpdate(edited, { done: "1" }, LEAN_POLICY)).toMatchObject({ ok: false });
  });

  it("may begin at 0, and a reference follows an item whose id had to be changed", () => {
    const zero = written([
      { id: 0, content: "a" },
      { id: 1, content: "b", dependsOn: [0] },
    ]);
    expect(zero.todos.map((todo) => [todo.id, todo.dependsOn])).toEqual([
      ["0", undefined],
      ["1", ["0"]],
    ]);
    const gone = written([{ content: "x" }], CLASSIC_POLICY, written(["a", "b"], CLASSIC_POLICY));
    const renamed = written(
      [
        { id: "2", content: "y" },
        { id: "9", content: "z", dependsOn: ["2"] },
      ],
      CLASSIC_POLICY,
      gone,
    );
    expect(renamed.todos[1]?.dependsOn).toEqual([renamed.todos[0]!.id]);
  });

  it("decide what a dependency means: an id in the list, else a position", () => {
    const byId = written([
      { id: "x", content: "a" },
      { id: "y", content: "b", dependsOn: ["x"] },
    ]);
    expect(byId.todos[1]?.dependsOn).toEqual(["x"]);
    const open = written(["a", "b", "c"]);
    const rewritten = written(["c", { content: "d", after: [1] }], LEAN_POLICY, open);
    expect(rewritten.todos.slice(0, 2).map((todo) => [todo.id, todo.dependsOn])).toEqual([
      ["3", undefined],
      ["4", ["3"]],
    ]);
  });
});

describe("an update", () => {
  const plan = written(["a", "b", "c"]);
  const after = (update: unknown): Todo[] => [...accepted(applyUpdate(plan, update, LEAN_POLICY)).plan.todos];

  it("moves and reorders", () => {
    const order = (update: unknown): string =>
      after(update)
        .map((todo) => todo.id)
        .join("");
    expect(order({ move: [{ id: "3", before: "1" }] })).toBe("312");
    expect(order({ move: [{ id: "1" }] })).toBe("231");
    expect(order({ edit: [{ id: "3", before: "2" }] })).toBe("132");
    expect(order({ order: "3,2" })).toBe("321");
    expect(order({ add: [{ content: "d", before: "2" }] })).toBe("1423");
  });

  it("edits, and an empty list of dependencies clears them", () => {
    const [, second] = after({
      edit: [{ id: "2", content: "B", priority: "urgent", estimate: "1h30m", note: "x\ny" }],
    });
    expect(second).toEqual({
      id: "2",
      content: "B",
      status: "pending",
      priority: "high",
      estimate: 90,
      note: "x y",
    });
    const dependent = accepted(applyUpdate(plan, { edit: [{ id: "2", after: ["1"] }] }, LEAN_POLICY)).plan;
    expect(
      accepted(applyUpdate(dependent, { edit: [{ id: "2", after: [] }] }, LEAN_POLICY)).plan.todos[1],
    ).toEqual({
      id: "2",
      content: "b",
      status: "pending",
    });
  });

  it("blocks by id, with or without a reason", () => {
    for (const block of [
      "2: no access",
      ["2 - no access"],
      [{ id: 2, note: "no access" }],
      { id: "2", reason: "no access" },
    ]) {
      expect(after({ block })[1]).toEqual({ id: "2", content: "b", status: "blocked", note: "no access" });
    }
    expect(after({ block: "2, 3" }).map((todo) => todo.status)).toEqual([
      "in_progress",
      "blocked",
      "blocked",
    ]);
  });

  it.each<[note: string | undefined, how: string, change: object]>([
    [undefined, "is started", { start: "2" }],
    [undefined, "is done", { done: "2" }],
    [undefined, "is open again", { edit: [{ id: "2", status: "pending" }] }],
    ["by hand", "is done with a note", { done: "2: by hand" }],
    [
      "look twice",
      "is started with a note",
      { edit: [{ id: "2", status: "in_progress", note: "look twice" }] },
    ],
    ["no access", "is cancelled", { cancel: "2" }],
    ["no access", "stays", { edit: [{ id: "2", content: "B" }] }],
  ])("leaves the note %j on a blocked item that %s", (note, _, change) => {
    const blocked = accepted(applyUpdate(plan, { block: "2: no access" }, LEAN_POLICY)).plan;
    expect(accepted(applyUpdate(blocked, change, LEAN_POLICY)).plan.todos[1]?.note).toBe(note);
  });

  it("removes the block reason from an item that the model or the user reopens", () => {
    const blocked = accepted(applyUpdate(plan, { block: "2: no access" }, LEAN_POLICY)).plan;
    for (const author of ["model", "person"] as const) {
      const todos = blocked.todos.map((todo) => (todo.id === "2" ? { ...todo, status: "pending" } : todo));
      const item = accepted(applyWrite(blocked, todos, LEAN_POLICY, { author })).plan.todos[1];
      expect(item).toEqual({ id: "2", content: "b", status: "pending" });
    }
  });

  it("keeps the reason for a block when a completion is refused", () => {
    const blocked = accepted(applyUpdate(plan, { block: "2: no access" }, LEAN_POLICY)).plan;
    const ids = new Set(["2"]);
    const done = applyUpdate(blocked, { done: "1,2" }, LEAN_POLICY, { refused: ids });
    expect(accepted(done).plan.todos[1]).toMatchObject({ status: "blocked", note: "no access" });
  });

  it("does not complete a cancelled item, and names its likely replacement", () => {
    const rewritten = accepted(
      applyWrite(
        written(["Fix total()", "Report"]),
        { todos: ["Fix total() in src/total.js", "Report"] },
        LEAN_POLICY,
      ),
    ).plan;
    expect(lines(rewritten)).toContain("1 Fix total() cancelled");
    const tried = applyUpdate(rewritten, { done: "1" }, LEAN_POLICY);
    expect(tried.ok ? [] : tried.issues.map(({ message }) => message)).toEqual([
      "Item 1 is cancelled and cannot be completed. If you did item 3 (Fix total() in src/total.js), report that one; else start 1 again first.",
    ]);
    const started = accepted(applyUpdate(rewritten, { cancel: "3", start: "1" }, LEAN_POLICY)).plan;
    expect(lines(accepted(applyUpdate(started, { done: "1" }, LEAN_POLICY)).plan)).toContain(
      "1 Fix total() completed",
    );
    expect(
      lines(accepted(applyUpdate(rewritten, { done: "1" }, LEAN_POLICY, { author: "person" })).plan),
    ).toContain("1 Fix total() completed");
  });

  it("names the only item that was added when an item was cancelled", () => {
    const swap = { cancel: "1", add: ["Rewrite the parser"] };
    const { plan: swapped } = accepted(applyUpdate(written(["Fix total()", "Report"]), swap, LEAN_POLICY));
    expect(lines(swapped)).toContain("1 Fix total() cancelled");
    expect(messagesOf(applyUpdate(swapped, { done: "1" }, LEAN_POLICY))).toEqual([
      "Item 1 is cancelled and cannot be completed. If you did item 3 (Rewrite the parser), report that one; else start 1 again first.",
    ]);
    const noted = { cancel: "1: not needed", add: ["Rewrite the parser"] };
    const { plan: other } = accepted(applyUpdate(written(["Fix total()", "Report"]), noted, LEAN_POLICY));
    expect(messagesOf(applyUpdate(other, { done: "1" }, LEAN_POLICY))[0]).toContain(
      "report the item that you",
    );
    const back = accepted(applyUpdate(swapped, { start: "1" }, LEAN_POLICY)).plan;
    expect(back.todos[0]).not.toHaveProperty("note");
  });

  it("names no other item for a cancelled one with few words in common", () => {
    const cancelled = accepted(
      applyUpdate(written(["Benchmark parse()", "Tests for parse and format"]), { cancel: "1" }, LEAN_POLICY),
    ).plan;
    const tried = applyUpdate(cancelled, { done: "1" }, LEAN_POLICY);
    expect(tried.ok ? [] : tried.issues.map(({ message }) => message)).toEqual([
      "Item 1 is cancelled and cannot be completed. Start it again first, or report the item that you did.",
    ]);
  });

  it("starts the most urgent item next", () => {
    const urgent = written(["a", "b", { content: "c", priority: "high" }]);
    expect(lines(accepted(applyUpdate(urgent, { done: "1" }, LEAN_POLICY)).plan)[2]).toBe("3 c in_progress");
  });

  it("says so when nothing had to change", () => {
    const result = accepted(applyUpdate(plan, { start: "1" }, LEAN_POLICY));
    expect(result.changes).toEqual([]);
    expect(result.notes).toEqual(["1 was already in_progress."]);
  });
});

describe("checkTodos", () => {
  it("finds every error in a list", () => {
    const todos: Todo[] = [
      { id: "1", content: " ", status: "in_progress", dependsOn: ["2", "7"] },
      { id: "1", content: "b", status: "cancelled" },
      { id: "2", content: "c", status: "in_progress" },
    ];
    const rules = checkTodos(todos, {
      ...CLASSIC_POLICY,
      maxItems: 2,
      maxInProgress: 1,
      earlyStart: "refuse",
    }).map((issue) => issue.rule);
    expect(rules).toEqual([
      "content",
      "unique-id",
      "status",
      "max-items",
      "max-in-progress",
      "known-id",
      "dependency",
    ]);
  });

  it("can walk a chain of a thousand items", () => {
    const chain = Array.from({ length: 1000 }, (_, index): Todo => ({
      id: String(index),
      content: "x",
      status: "pending",
      ...(index > 0 && { dependsOn: [String(index - 1)] }),
    }));
    expect(checkTodos(chain, CLASSIC_POLICY)).toEqual([]);
  });
});
