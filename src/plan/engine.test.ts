import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rounds } from "../../test/helpers/runner/rounds.ts";
import { STATUSES } from "../vocabulary.ts";
import { applyUpdate, applyWrite, type ApplyOptions } from "./apply/apply.ts";
import { parseMarkdown, renderMarkdown } from "./render/markdown.ts";
import { renderMermaid } from "./render/mermaid.ts";
import { renderChecklist, renderSnapshot, renderStatus } from "./render/render.ts";
import { findCycle, startable, unmetDependencies } from "./todo/dependencies.ts";
import { diffTodos, patchTodos } from "./todo/diff.ts";
import { CHECKLIST_POLICY, CLASSIC_POLICY, LEAN_POLICY, type Policy } from "./todo/policy.ts";
import { EMPTY_PLAN, type Issue, type Plan, type Result, type Todo } from "./todo/todo.ts";

/** One attempt to change a plan: sometimes sensible, sometimes nonsense. */
interface Operation {
  tool: "write" | "update";
  input: unknown;
}

const id = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 9 }).map(String) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 30 }) },
  { weight: 1, arbitrary: fc.constantFrom("a", "b", "x-1", "007", "99999999999999", "#2") },
);
const ids = fc.oneof(fc.array(id, { maxLength: 3 }), id, fc.constantFrom("1,2", "[1,2]", "3 4"));
const content = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom("read", "write", "test", "Read!", "ship it", "[ ] #3: odd", "$& `${x}`"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
);
const status = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...STATUSES) },
  { weight: 1, arbitrary: fc.constantFrom("done", "in-progress", "DOING", "nonsense", "") },
);
const item = fc.oneof(
  { weight: 3, arbitrary: content },
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        content,
        fc.record({ status, after: ids, priority: fc.constantFrom("high", "low") }, { requiredKeys: [] }),
      )
      .map(([text, rest]) => ({ content: text, text, ...rest })),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        id,
        content,
        status,
        priority: fc.constantFrom("high", "urgent", 2, "?"),
        dependsOn: ids,
        estimate: fc.constantFrom(5, "2h", "1h30m", -1, "soon"),
        note: fc.string(),
        before: id,
      },
      { requiredKeys: ["id"] },
    ),
  },
);
const garbage = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
});
const list = fc.oneof(
  { weight: 5, arbitrary: fc.array(item, { maxLength: 8 }) },
  { weight: 1, arbitrary: fc.array(item, { maxLength: 4 }).map((value) => JSON.stringify(value)) },
);
const write = fc.oneof(
  { weight: 4, arbitrary: list },
  { weight: 1, arbitrary: list.map((todos) => ({ todos })) },
  { weight: 1, arbitrary: garbage },
);
const update = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("start", "done", "cancel", "block")
      .chain((key) => id.map((one) => ({ [key]: one }))),
  },
  { weight: 2, arbitrary: fc.array(item, { minLength: 1, maxLength: 2 }).map((add) => ({ add })) },
  {
    weight: 3,
    arbitrary: fc.record(
      { start: ids, done: ids, cancel: ids, order: ids, block: list, add: list, edit: list, move: list },
      { requiredKeys: [] },
    ),
  },
  { weight: 1, arbitrary: garbage },
);
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 1, arbitrary: write.map((input) => ({ tool: "write" as const, input })) },
  { weight: 3, arbitrary: update.map((input) => ({ tool: "update" as const, input })) },
);
const policy: fc.Arbitrary<Policy> = fc
  .tuple(
    fc.constantFrom(LEAN_POLICY, CLASSIC_POLICY, CHECKLIST_POLICY),
    fc.record(
      {
        maxItems: fc.integer({ min: 1, max: 8 }),
        maxInProgress: fc.integer({ min: 1, max: 3 }),
        unknownStatus: fc.constantFrom("refuse" as const, "pending" as const),
        emptyContent: fc.constantFrom("refuse" as const, "drop" as const),
        duplicateIds: fc.constantFrom("refuse" as const, "renumber" as const),
        unknownIds: fc.constantFrom("refuse" as const, "ignore" as const),
        cycles: fc.constantFrom("refuse" as const, "drop" as const),
        earlyStart: fc.constantFrom("refuse" as const, "allow" as const),
        idle: fc.constantFrom("allow" as const, "refuse" as const, "start" as const),
        completed: fc.constantFrom("frozen" as const, "editable" as const),
        aliases: fc.boolean(),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([base, changes]) => ({ ...base, ...changes }));

function apply(plan: Plan, { tool, input }: Operation, rules: Policy, options?: ApplyOptions): Result {
  return (tool === "write" ? applyWrite : applyUpdate)(plan, input, rules, options);
}

/** Plays operations one after the other and hands every step to `check`. */
function play(operations: Operation[], rules: Policy, check?: (before: Plan, result: Result) => void): Plan {
  let plan = EMPTY_PLAN;
  for (const one of operations) {
    const result = apply(plan, one, rules);
    check?.(plan, result);
    if (result.ok) plan = result.plan;
  }
  return plan;
}

/** Most sequences begin with a plan, so that the rest has something to change. */
const opening = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.uniqueArray(fc.constantFrom("read", "write", "test", "ship it", "look again"), {
      minLength: 1,
    }),
  },
  { weight: 1, arbitrary: write },
);
const sequences: fc.Arbitrary<[Operation[], Policy]> = fc
  .tuple(opening, fc.array(operation, { minLength: 1, maxLength: 8 }), policy)
  .map(([input, rest, rules]): [Operation[], Policy] => [[{ tool: "write", input }, ...rest], rules]);

describe("any sequence of operations, sensible or not", () => {
  it("never throws and never breaks an invariant", { timeout: 120_000 }, () => {
    let accepted = 0;
    let refused = 0;
    fc.assert(
      fc.property(sequences, ([operations, rules]) => {
        const retired = new Set<string>();
        play(operations, rules, (before, result) => {
          if (result.ok) accepted += 1;
          else refused += 1;
          const broken = result.ok
            ? brokenInvariant(before, result, rules, retired)
            : brokenRefusal(result.issues);
          if (broken) throw new Error(broken);
        });
      }),
      { numRuns: rounds(6_000) },
    );
    // The generator is worth something only if both kinds are common.
    expect(accepted).toBeGreaterThan(rounds(6_000));
    expect(refused).toBeGreaterThan(rounds(6_000));
  });

  it("leaves the plan unchanged when it refuses a change, and is deterministic", () => {
    fc.assert(
      fc.property(sequences, operation, ([operations, rules], last) => {
        const plan = play(operations, rules);
        const copy = structuredClone(plan);
        const [first, second] = [apply(plan, last, rules), apply(plan, last, rules)];
        expect(plan).toEqual(copy);
        expect(first).toEqual(second);
      }),
      { numRuns: rounds(1_500) },
    );
  });

  it("applies a call without its refused completions, and breaks no invariant", () => {
    const some = fc.subarray(["1", "2", "3", "4", "5"]);
    const report = fc
      .record({ done: some, start: some })
      .map((input) => ({ tool: "update" as const, input }));
    let withheld = 0;
    fc.assert(
      fc.property(sequences, fc.oneof(report, operation), some, ([operations, base], last, named) => {
        const rules: Policy = { ...base, unknownIds: "ignore" };
        const plan = play(operations, rules);
        const whole = apply(plan, last, rules);
        const refused = new Set(
          whole.ok ? newlyCompleted(plan, whole).filter((one) => named.includes(one)) : [],
        );
        if (refused.size === 0) return;
        withheld += 1;
        const rest = apply(plan, last, rules, { refused });
        // Nothing is left where something in progress was made to wait on what was refused.
        if (!rest.ok && rest.issues.every(({ rule }) => rule === "dependency")) return;
        const broken = rest.ok ? brokenInvariant(plan, rest, rules, new Set()) : "a rule was broken";
        if (broken) throw new Error(broken);
        const still = rest.ok ? newlyCompleted(plan, rest).filter((one) => refused.has(one)) : [];
        if (still.length > 0) throw new Error(`completed although it was refused: ${still.join()}`);
      }),
      { numRuns: rounds(1_500) },
    );
    expect(withheld).toBeGreaterThan(rounds(16));
  });

  it("gives the same plan side by side as one after the other", () => {
    fc.assert(
      fc.property(sequences, ([operations, rules]) => {
        const start = play(operations.slice(0, 3), rules);
        const calls = operations.slice(3);
        // Each call works out the calls before it by itself and contributes only its own changes.
        const patches = calls.map((call, index) => {
          let before = start;
          for (const earlier of calls.slice(0, index)) {
            const result = apply(before, earlier, rules);
            if (result.ok) before = result.plan;
          }
          const own = apply(before, call, rules);
          return own.ok ? own.changes : [];
        });
        const merged = patches.reduce((todos, changes) => patchTodos(todos, changes), [...start.todos]);
        let sequential = start;
        for (const call of calls) {
          const result = apply(sequential, call, rules);
          if (result.ok) sequential = result.plan;
        }
        expect(merged).toEqual(sequential.todos);
      }),
      { numRuns: rounds(2_000) },
    );
  });

  it("is described exactly by the difference of two plans", () => {
    fc.assert(
      fc.property(sequences, sequences, ([first, rules], [second]) => {
        const [before, after] = [play(first, rules).todos, play(second, rules).todos];
        expect(patchTodos(before, diffTodos(before, after))).toEqual(after);
      }),
      { numRuns: rounds(1_500) },
    );
  });

  it("survives Markdown export and import, and every view draws it", () => {
    fc.assert(
      fc.property(sequences, ([operations, rules]) => {
        const { todos } = play(operations, rules);
        const parsed = parseMarkdown(renderMarkdown(todos));
        expect(parsed).toEqual({ ok: true, todos });
        const views = [renderChecklist, renderStatus, renderSnapshot, renderMermaid];
        for (const view of views) expect(typeof view(todos as Todo[])).toBe("string");
      }),
      { numRuns: rounds(1_500) },
    );
  });
});

function newlyCompleted(before: Plan, { plan, changes }: Extract<Result, { ok: true }>): string[] {
  const old = changes[0]?.type === "plan-reset" ? [] : before.todos;
  const known = new Set(old.filter((todo) => todo.status === "completed").map((todo) => todo.id));
  return plan.todos
    .filter((todo) => todo.status === "completed" && !known.has(todo.id))
    .map((todo) => todo.id);
}

/** Names the invariant that an accepted change broke, if it did. */
function brokenInvariant(
  before: Plan,
  { plan: { todos }, changes }: Extract<Result, { ok: true }>,
  rules: Policy,
  retired: Set<string>,
): string | undefined {
  const isReset = changes[0]?.type === "plan-reset";
  const present = new Set(todos.map((todo) => todo.id));
  if (isReset && rules.ids === "sent") retired.clear();
  else for (const todo of before.todos) if (!present.has(todo.id)) retired.add(todo.id);
  const running = todos.filter((todo) => todo.status === "in_progress");
  if (present.size !== todos.length) return "two items have one id";
  if (rules.ids === "stable" && todos.some((todo) => retired.has(todo.id))) return "an id was used again";
  if (todos.length > rules.maxItems) return "too many items";
  if (running.length > rules.maxInProgress) return "too many items in progress";
  if (findCycle(todos)) return "items wait for each other";
  if (todos.some((todo) => todo.content.trim() === "")) return "an item has no content";
  if (todos.some((todo) => !rules.statuses.includes(todo.status)))
    return "an item has a status that does not exist";
  if (todos.some((todo) => (todo.dependsOn ?? []).some((other) => !present.has(other))))
    return "a dependency is unknown";
  if (rules.earlyStart === "refuse") {
    const old = new Map(before.todos.map((todo) => [todo.id, todo.status]));
    const acted = todos.filter(
      (todo) =>
        todo.status === "in_progress" || (todo.status === "completed" && old.get(todo.id) !== "completed"),
    );
    if (acted.some((todo) => unmetDependencies(todo, todos).length > 0)) return "an item started too early";
  }
  if (rules.completed === "frozen" && !isReset) {
    // A reference to an item that is gone may go with it; nothing else may change.
    const bare = (todo: Todo): object => ({ ...todo, dependsOn: undefined });
    const completed = before.todos.filter((todo) => todo.status === "completed");
    const kept = completed.every((todo) => todos.some((other) => isDeepStrictEqual(bare(todo), bare(other))));
    if (!kept) return "a completed item was rewritten";
  }
  if (rules.idle !== "allow" && running.length === 0 && startable(todos).length > 0)
    return "nothing is in progress";
  return undefined;
}

function brokenRefusal(issues: Issue[]): string | undefined {
  if (issues.length === 0) return "refused without a reason";
  return issues.some((issue) => !issue.message.endsWith(".")) ? "a reason is not a sentence" : undefined;
}

it("a long value is cut between characters where an error shows it", () => {
  const result = applyUpdate(EMPTY_PLAN, "x".repeat(55) + "😀😀😀", LEAN_POLICY);
  const [issue] = result.ok ? [] : result.issues;
  expect(issue?.message).toContain("...");
  expect(issue?.message.isWellFormed()).toBe(true);
});
