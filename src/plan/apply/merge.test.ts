import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { STATUSES } from "../../vocabulary.ts";
import { LEAN_POLICY } from "../todo/policy.ts";
import { PRIORITIES, type Todo } from "../todo/todo.ts";
import { applyWrite } from "./apply.ts";
import { mergeEdit, readEdit } from "./merge.ts";
import { checkTodos } from "./rules.ts";

const content = fc.constantFrom("read", "write", "test", "ship", "rest");
const fields = fc.record(
  {
    content,
    status: fc.constantFrom(...STATUSES),
    priority: fc.constantFrom(...PRIORITIES),
    note: fc.constantFrom("soon", "late"),
  },
  { requiredKeys: [] },
);
const base = fc
  .array(fc.tuple(content, fields), { maxLength: 6 })
  .map((list) =>
    list.map(([text, more], at): Todo => ({ content: text, status: "pending", ...more, id: String(at + 1) })),
  );

/** One thing that is done to a list: to the item at a place, or to the list there. */
type Act = { at: number } & ({ set: Partial<Todo> } | { to: number } | { remove: true } | { add: string });
const at = fc.nat({ max: 6 });
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ at, set: fields }) },
  fc.record({ at, to: at }),
  fc.record({ at, remove: fc.constant(true as const) }),
  fc.record({ at, add: content }),
);
const acts = fc.array(act, { maxLength: 4 });

function after(list: readonly Todo[], all: readonly Act[]): Todo[] {
  let todos = [...list];
  let next = list.length + 1;
  for (const one of all) {
    const todo = todos[one.at];
    if ("add" in one) {
      todos = todos.toSpliced(one.at, 0, { id: String(next++), content: one.add, status: "pending" });
    } else if (todo && "set" in one) todos = todos.with(one.at, { ...todo, ...one.set });
    else if (todo && "to" in one) todos = todos.toSpliced(one.at, 1).toSpliced(one.to, 0, todo);
    else if (todo) todos = todos.toSpliced(one.at, 1);
  }
  return todos;
}

const merged = (sides: Parameters<typeof mergeEdit>[0]): Todo[] => {
  const merge = mergeEdit(sides);
  if (!merge.ok) throw new Error(merge.conflicts.map(({ id }) => id).join());
  return merge.todos;
};

describe("merging an edit", () => {
  it("returns the only changed side, or that side when both changes are equal", () => {
    fc.assert(
      fc.property(base, acts, (list, all) => {
        const changed = after(list, all);
        expect(merged({ base: list, mine: list, theirs: changed })).toEqual(changed);
        expect(merged({ base: list, mine: changed, theirs: list })).toEqual(changed);
        expect(merged({ base: list, mine: changed, theirs: changed })).toEqual(changed);
      }),
    );
  });

  it("gives the same result from either side when the sides changed different items", () => {
    fc.assert(
      fc.property(base, acts, acts, fc.nat({ max: 6 }), (list, some, others, border) => {
        // Removing moves what is behind: the last first, and one act for each place.
        const inPlace = (all: readonly Act[]) =>
          all
            .filter((one) => "set" in one || "remove" in one)
            .filter((each, index, left) => left.findIndex((one) => one.at === each.at) === index)
            .toSorted((a, b) => b.at - a.at);
        const mine = after(list, inPlace(some.filter((one) => one.at < border)));
        const theirs = after(list, inPlace(others.filter((one) => one.at >= border)));
        const result = merged({ base: list, mine, theirs });
        expect(merged({ base: list, mine: theirs, theirs: mine })).toEqual(result);
        expect(result).toEqual([
          ...mine.filter(({ id }) => Number(id) <= border),
          ...theirs.filter(({ id }) => Number(id) > border),
        ]);
      }),
    );
  });

  it("keeps everything that one side alone did", () => {
    fc.assert(
      fc.property(base, acts, acts, (list, some, others) => {
        const [mine, theirs] = [after(list, some), after(list, others)];
        const merge = mergeEdit({ base: list, mine, theirs });
        fc.pre(merge.ok);
        const ids = merge.todos.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const isNew = ({ id }: Todo) => Number(id) > list.length;
        const added = [...mine, ...theirs].filter(isNew).map((todo) => todo.content);
        // The same item that both added under one id is one.
        const twice = mine.filter(isNew).filter((todo) => theirs.some((one) => same(one, todo)));
        expect(merge.todos.filter(isNew)).toHaveLength(added.length - twice.length);
        for (const todo of list) {
          const [own, other] = [mine, theirs].map((side) => side.find(({ id }) => id === todo.id));
          const result = merge.todos.find(({ id }) => id === todo.id);
          const expected = same(own, todo) ? other : same(other, todo) ? own : result;
          expect(result).toEqual(expected);
        }
      }),
    );
  });

  it("gives a list that follows the plan's rules, or is refused by them", () => {
    fc.assert(
      fc.property(base, acts, acts, (list, some, others) => {
        const write = (before: Todo[], todos: unknown) =>
          applyWrite({ todos: before, nextId: 1, retired: [] }, todos, LEAN_POLICY, { author: "person" });
        const [valid] = [write([], list)];
        fc.pre(valid.ok);
        const start = [...valid.plan.todos];
        const theirs = write(start, after(start, others));
        fc.pre(theirs.ok);
        const now = [...theirs.plan.todos];
        const merge = mergeEdit({ base: start, mine: after(start, some), theirs: now });
        fc.pre(merge.ok);
        const result = write(now, merge.todos);
        fc.pre(result.ok);
        expect(checkTodos(result.plan.todos, LEAN_POLICY, now)).toEqual([]);
      }),
    );
  });
});

const todo = (id: string, more: Partial<Todo> = {}): Todo => ({
  id,
  content: `step ${id}`,
  status: "pending",
  ...more,
});
const LIST = [todo("1"), todo("2"), todo("3")];
const with2 = (more: Partial<Todo>) => [LIST[0]!, todo("2", more), LIST[2]!];
const without2 = [LIST[0]!, LIST[2]!];

describe("an item that both sides changed", () => {
  it.each<[string, Todo[], Todo[]]>([
    ["one field differently", with2({ content: "mine" }), with2({ content: "theirs" })],
    ["its status differently", with2({ status: "cancelled" }), with2({ status: "in_progress" })],
    ["and mine removed", without2, with2({ status: "in_progress" })],
    ["and theirs removed", with2({ note: "soon" }), without2],
    ["and theirs completed", with2({ content: "mine" }), with2({ status: "completed" })],
    ["and theirs cancelled", with2({ priority: "high" }), with2({ status: "cancelled" })],
  ])("conflicts: %s", (_how, mine, theirs) => {
    const at2 = (list: Todo[]) => list.find(({ id }) => id === "2");
    expect(mergeEdit({ base: LIST, mine, theirs })).toEqual({
      ok: false,
      conflicts: [{ id: "2", base: LIST[1], mine: at2(mine), theirs: at2(theirs) }],
    });
  });

  it.each<[string, Todo[], Todo[], Todo[]]>([
    [
      "other fields",
      with2({ content: "mine" }),
      with2({ status: "in_progress" }),
      with2({ content: "mine", status: "in_progress" }),
    ],
    [
      "the same",
      with2({ status: "completed" }),
      with2({ status: "completed" }),
      with2({ status: "completed" }),
    ],
    ["and both removed", without2, without2, without2],
    [
      "and the harness counted what it cost",
      with2({ content: "mine" }),
      with2({ actuals: ACTUALS() }),
      with2({ content: "mine", actuals: ACTUALS() }),
    ],
  ])("is merged: %s", (_how, mine, theirs, result) => {
    expect(merged({ base: LIST, mine, theirs })).toEqual(result);
  });
});

it("an added item with a taken id gets another id and keeps its dependents", () => {
  const mine = [...LIST, todo("4", { content: "mine" }), todo("5", { dependsOn: ["4"] })];
  const theirs = [...LIST, todo("4", { content: "theirs" })];
  expect(merged({ base: LIST, mine, theirs })).toEqual([
    ...LIST,
    todo("6", { content: "mine" }),
    todo("5", { dependsOn: ["6"] }),
    todo("4", { content: "theirs" }),
  ]);
});

it("an item that needs another id does not get an id that both sides have removed", () => {
  const mine = [LIST[0]!, todo("2"), todo("a", { content: "mine" })];
  const theirs = [LIST[0]!, todo("2"), todo("a", { content: "theirs" })];
  expect(merged({ base: LIST, mine, theirs }).map(({ id }) => id)).toEqual(["1", "2", "4", "a"]);
});

it("an added item keeps its place after other items are added or removed before it", () => {
  const mine = [LIST[0]!, LIST[1]!, todo("4", { content: "mine" }), LIST[2]!];
  const theirs = [todo("5", { content: "theirs" }), LIST[1]!, LIST[2]!];
  const order = merged({ base: LIST, mine, theirs }).map(({ id }) => id);
  expect(order).toEqual(["5", "2", "4", "3"]);
});

it("a user's list is read by ids, contents or new words", () => {
  const read = readEdit(LIST, ["step 2", { id: "1", content: "first" }, "new"]);
  expect(read).toMatchObject({
    ok: true,
    plan: { todos: [todo("2"), todo("1", { content: "first" }), todo("4", { content: "new" })] },
  });
});

function same(one: Todo | undefined, other: Todo | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function ACTUALS(): NonNullable<Todo["actuals"]> {
  return { startedAt: 1, elapsedMs: 2, modelCalls: 1, toolCalls: 1, inputTokens: 0, outputTokens: 0 };
}
