import { describe, expect, it } from "vitest";
import { applyUpdate, applyWrite, EMPTY_PLAN, LEAN_POLICY, type Plan, type Result } from "../index.ts";

function accepted(result: Result): Plan {
  if (!result.ok) throw new Error(result.issues.map(({ message }) => message).join("\n"));
  return result.plan;
}

const PLAN = accepted(
  applyWrite(
    EMPTY_PLAN,
    ["Read SPEC.md", "Implement src/parse.js", "Implement dedupe.js", "Run npm test"],
    LEAN_POLICY,
  ),
);

function statusesAfter(update: unknown): string {
  return accepted(applyUpdate(PLAN, update, LEAN_POLICY))
    .todos.map(({ status }) => status[0])
    .join("");
}

describe("an item is known", () => {
  it.each([
    [{ done: "Implement src/parse.js" }],
    [{ done: "implement src/parse.js." }],
    [{ done: "2: Implement src/parse.js" }],
    [{ done: ["2: Implement src/parse.js"] }],
    [{ done: '["2: Implement src/parse.js"]' }],
    [{ done: "2", status: "completed" }],
    [{ done: "#2", state: "done" }],
    [{ done: [{ id: 2, note: "with tests" }] }],
  ])("%j", (update) => {
    expect(statusesAfter(update)).toBe("icpp");
  });

  it("by its words in every operation", () => {
    expect(statusesAfter({ cancel: "Implement dedupe.js", done: "1", start: "4: Run npm test" })).toBe(
      "cpci",
    );
    expect(statusesAfter({ done: "1: Read SPEC.md, 2: Implement src/parse.js" })).toBe("ccip");
  });

  it("with other text, which becomes its note", () => {
    const notes = (update: unknown): (string | undefined)[] =>
      accepted(applyUpdate(PLAN, update, LEAN_POLICY)).todos.map(({ note }) => note);
    expect(notes({ done: "1: knew it by heart, 2: Implement src/parse.js" })).toEqual([
      "knew it by heart",
      undefined,
      undefined,
      undefined,
    ]);
    expect(notes({ done: "1,2", note: "by hand" })).toEqual(["by hand", "by hand", undefined, undefined]);
    expect(notes({ cancel: "3: not wanted" })[2]).toBe("not wanted");
  });

  it("unless another status is given with the operation", () => {
    const result = applyUpdate(PLAN, { done: "2", status: "blocked" }, LEAN_POLICY);
    expect(!result.ok && result.issues[0]?.message).toContain('"status" is not an operation');
  });
});

describe("an item in other words", () => {
  it("stays the item that it was, also when it is sent as completed", () => {
    const list = [
      { content: "Read SPEC.md", status: "completed" },
      { content: "Implement src/parse.js with tests", status: "completed" },
      { content: "Implement dedupe.js", status: "in_progress" },
      { content: "Run npm test", status: "pending" },
    ];
    const { todos } = accepted(applyWrite(PLAN, list, LEAN_POLICY));
    expect(todos.map(({ id, status }) => id + status[0])).toEqual(["1c", "2c", "3i", "4p"]);
  });

  it("is a new one where it says something else", () => {
    const { todos } = accepted(
      applyWrite(PLAN, ["Read SPEC.md", "Ask the user", "Run npm test"], LEAN_POLICY),
    );
    expect(todos.map(({ id, status }) => id + status[0])).toEqual(["1i", "5p", "4p", "2c", "3c"]);
  });
});

describe("the model's fields for verification", () => {
  it("an item keeps its key and its mark when its words change", () => {
    const plan = accepted(
      applyWrite(EMPTY_PLAN, [{ content: "Test", key: "tests", must_verify: true }], LEAN_POLICY),
    );
    const edited = accepted(
      applyUpdate(plan, { edit: [{ id: "1", content: "Run all tests", mustVerify: false }] }, LEAN_POLICY),
    );
    expect(edited.todos[0]).toMatchObject({ content: "Run all tests", key: "tests", mustVerify: true });
    const written = applyWrite(plan, [{ content: "Test", mustVerify: false }], LEAN_POLICY, {
      author: "person",
    });
    expect(accepted(written).todos[0]?.mustVerify).toBeUndefined();
  });

  it("only the harness and the user mark an item as unverified", () => {
    const item = { content: "Test", status: "completed", unverified: true };
    expect(accepted(applyWrite(EMPTY_PLAN, [item], LEAN_POLICY)).todos[0]?.unverified).toBeUndefined();
    const marked = accepted(applyWrite(EMPTY_PLAN, [item], LEAN_POLICY, { author: "person" }));
    expect(marked.todos[0]?.unverified).toBe(true);
    const reopened = applyWrite(marked, [{ ...item, id: "1", status: "pending" }], LEAN_POLICY, {
      author: "person",
    });
    expect(accepted(reopened).todos[0]?.unverified).toBeUndefined();
    const unverified = new Set(["1"]);
    const plan = accepted(applyUpdate(PLAN, { done: "1,2" }, LEAN_POLICY, { unverified }));
    expect(plan.todos.map((todo) => todo.unverified)).toEqual([true, undefined, undefined, undefined]);
  });
});
