import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WorkCounter } from "../../test/helpers/measure/work-counter.ts";
import {
  applyUpdate,
  applyWrite,
  CLASSIC_POLICY,
  diffTodos,
  EMPTY_PLAN,
  LEAN_POLICY,
  patchTodos,
  type Policy,
  type Plan,
  type Todo,
} from "./index.ts";
import { repairJson } from "./read/repair.ts";
import { actionable } from "./todo/dependencies.ts";

const ENDLESS: Policy = { ...LEAN_POLICY, maxItems: Infinity };
const texts = (size: number): string[] => Array.from({ length: size }, (_, at) => `Item ${at}`);
const chained = (size: number): object[] =>
  texts(size).map((content, at) => ({ id: String(at + 1), content, after: at > 0 ? [String(at)] : [] }));

function planned(size: number, items: (size: number) => unknown = texts): Plan {
  const result = applyWrite(EMPTY_PLAN, items(size), ENDLESS);
  if (!result.ok) throw new Error(result.issues[0]!.message);
  return result.plan;
}

const finished = (todos: readonly Todo[]): Todo[] =>
  todos.map((todo) => ({ ...todo, status: "completed" as const }));

describe("twice the input makes at most about twice the work", () => {
  let work: WorkCounter;
  beforeAll(() => void (work = new WorkCounter()));
  afterAll(() => work.end());

  it.each<[string, (size: number) => () => unknown]>([
    ["a list that is written", (size) => () => applyWrite(EMPTY_PLAN, texts(size), CLASSIC_POLICY)],
    [
      "a list that is written again, and reworded",
      (size) => {
        const plan = planned(size);
        return () => applyWrite(plan, texts(size).toReversed(), CLASSIC_POLICY);
      },
    ],
    ["items that wait on each other", (size) => () => applyWrite(EMPTY_PLAN, chained(size), ENDLESS)],
    [
      "items that wait on each other in circles",
      (size) => {
        const items = texts(size).map((content, at) => ({ content, after: [(at + 1) % size, at] }));
        return () => applyWrite(EMPTY_PLAN, items, { ...ENDLESS, cycles: "drop", unknownIds: "ignore" });
      },
    ],
    [
      "items that wait on what is not there",
      (size) => {
        const items = texts(size).map((content) => ({ content, after: "nowhere" }));
        return () => applyWrite(EMPTY_PLAN, items, ENDLESS);
      },
    ],
    ["items that are added", (size) => () => applyUpdate(EMPTY_PLAN, { add: texts(size) }, ENDLESS)],
    [
      "items that are finished",
      (size) => {
        const plan = planned(size);
        return () => applyUpdate(plan, { done: plan.todos.map(({ id }) => id) }, ENDLESS);
      },
    ],
    [
      "ids that are not known",
      (size) => () => applyUpdate(EMPTY_PLAN, { done: texts(size).map((text) => text.slice(5)) }, ENDLESS),
    ],
    [
      "fields that are not known",
      (size) => () =>
        applyWrite(EMPTY_PLAN, [Object.fromEntries(texts(size).map((key) => [key, 1]))], LEAN_POLICY),
    ],
    [
      "changes from one list to another",
      (size) => {
        const { todos } = planned(size);
        return () => patchTodos(todos, diffTodos(todos, finished(todos).toReversed()));
      },
    ],
    [
      "items that are removed",
      (size) => {
        const { todos } = planned(size);
        return () => patchTodos(todos, diffTodos(todos, []));
      },
    ],
    [
      "items that wait on one that is blocked",
      (size) => {
        const { todos } = planned(size, chained);
        const blocked = todos.map((todo, at) => (at === 0 ? { ...todo, status: "blocked" as const } : todo));
        return () => actionable(blocked.toReversed());
      },
    ],
  ])("%s", (_, make) => {
    const [once, twice] = [work.of(make(400)), work.of(make(800))];
    expect(once).toBeGreaterThan(400);
    expect(twice / once).toBeLessThan(2.5);
  });
});

describe("the engine refuses an excessive input before processing it", () => {
  it.each<[string, () => { ok: boolean }, RegExp]>([
    [
      "ten thousand items to add",
      () => applyUpdate(EMPTY_PLAN, { add: texts(10_000) }, LEAN_POLICY),
      /add has more than 1000 entries/,
    ],
    [
      "a thousand ranges of ids",
      () => applyUpdate(planned(3), { done: Array.from({ length: 1000 }, () => "1-1000") }, LEAN_POLICY),
      /done has more than 1000 entries/,
    ],
    [
      "a list of ten thousand items",
      () => applyWrite(EMPTY_PLAN, texts(10_000), LEAN_POLICY),
      /Max 200 todos allowed; this would make 10000/,
    ],
    [
      "a title of ten megabytes",
      () => applyWrite(EMPTY_PLAN, ["x".repeat(10_000_000)], CLASSIC_POLICY),
      /todos\[0\]\.content has 10000000 characters; use at most 20000/,
    ],
    [
      "a note of a megabyte",
      () => applyUpdate(planned(1), { edit: { id: 1, note: "x".repeat(1_000_000) } }, LEAN_POLICY),
      /edit\[0\]\.note has 1000000 characters; use at most 2000/,
    ],
    [
      "an estimate of three thousand spaces",
      () => applyWrite(EMPTY_PLAN, [{ content: "a", estimate: `${" ".repeat(3000)}h` }], LEAN_POLICY),
      /estimate is .* use minutes as a number/,
    ],
    [
      "a thousand unknown ids",
      () => applyUpdate(planned(2), { done: texts(900).map((text) => text.slice(5) + "x") }, LEAN_POLICY),
      /880 more problems are left out/,
    ],
  ])("%s", (_, apply, message) => {
    const result = apply() as { ok: false; issues: { message: string }[] };
    expect(result.ok).toBe(false);
    const text = result.issues.map((issue) => issue.message).join("\n");
    expect(text).toMatch(message);
    expect(text.length).toBeLessThan(5000);
  });

  it("text that is almost JSON and is too long or too deeply nested", () => {
    expect(repairJson(`${"[{".repeat(30_000)}${"]}".repeat(30_000)}`)).toBeUndefined();
    expect(repairJson(`${"[".repeat(30_000)}${"}".repeat(30_000)}`)).toBeUndefined();
    expect(repairJson(`{"a": "${"x".repeat(200_000)}",}`)).toBeUndefined();
    expect(repairJson(`{"a": [[[1]],]`)).toEqual({ a: [[[1]]] });
  });

  it("notes: the engine lists twenty and counts the rest", () => {
    const fields = Object.fromEntries(texts(300).map((key) => [key, 1]));
    const result = applyWrite(EMPTY_PLAN, [{ content: "a", ...fields }], LEAN_POLICY);
    expect(result.ok && result.notes).toHaveLength(21);
    expect(result.ok && result.notes.at(-1)).toBe("280 more notes are left out.");
  });
});

describe("a number as id that is far above all others", () => {
  it("is only a name: items added later get their usual numbers", () => {
    let plan = planned(2);
    for (const add of [
      { id: "999999999", content: "Far" },
      "Next",
      "And next",
      { id: 1000000, content: "Far too" },
      "Last",
    ]) {
      const result = applyUpdate(plan, { add: [add] }, LEAN_POLICY);
      if (!result.ok) throw new Error(result.issues[0]!.message);
      plan = result.plan;
    }
    expect(plan.todos.map(({ id }) => id)).toEqual(["1", "2", "999999999", "3", "4", "1000000", "5"]);
  });

  it("moves the count when it is the largest within the limit, and the count continues", () => {
    let plan = planned(1);
    for (const add of [{ id: "999999", content: "Far" }, "Next", "And next"]) {
      const result = applyUpdate(plan, { add: [add] }, LEAN_POLICY);
      if (!result.ok) throw new Error(result.issues[0]!.message);
      plan = result.plan;
    }
    expect(plan.todos.map(({ id }) => id)).toEqual(["1", "999999", "1000000", "1000001"]);
  });

  it("stays reserved: its item's id is not given to another item", () => {
    const far = applyUpdate(planned(1), { add: [{ id: "999999999", content: "Far" }] }, LEAN_POLICY);
    const gone = far.ok && applyWrite(far.plan, ["Other"], { ...LEAN_POLICY, completed: "editable" });
    const back =
      gone && gone.ok && applyUpdate(gone.plan, { add: [{ id: "999999999", content: "Back" }] }, LEAN_POLICY);
    expect(back && back.ok && back.plan.todos.map(({ id }) => id)).toEqual(["2", "1", "999999999", "3"]);
  });
});
