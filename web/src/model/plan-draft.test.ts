import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Todo } from "../../../src/plan/todo/todo.ts";
import { STATUSES } from "../../../src/vocabulary.ts";
import {
  addItem,
  conflictsOf,
  isDirty,
  moveItem,
  rebased,
  removeItem,
  renameItem,
  setStatus,
  settle,
  startDraft,
  toSend,
} from "./plan-draft.ts";

const A: Todo = { id: "1", content: "A", status: "in_progress" };
const B: Todo = { id: "2", content: "B", status: "pending", dependsOn: ["1"] };
const C: Todo = { id: "3", content: "C", status: "pending" };
const PLAN = [A, B, C];

describe("a plan that the user is editing", () => {
  it("is renamed, moved, set, removed from and added to", () => {
    let draft = startDraft(PLAN);
    draft = renameItem(draft, "2", "B2");
    draft = moveItem(draft, "3", -2);
    draft = setStatus(draft, "1", "completed");
    draft = addItem(draft, "D");
    draft = removeItem(draft, "1");
    expect(toSend(draft.mine)).toEqual([
      C,
      { id: "2", content: "B2", status: "pending" },
      { content: "D", status: "pending" },
    ]);
    expect(isDirty(draft)).toBe(true);
  });

  it("does not move an item past an end", () => {
    expect(moveItem(startDraft(PLAN), "1", -1).mine).toEqual(PLAN);
    expect(moveItem(startDraft(PLAN), "3", 1).mine).toEqual(PLAN);
  });

  it("sends no item without words", () => {
    expect(toSend(addItem(startDraft([]), "  ").mine)).toEqual([]);
  });

  it("has a new item once, though the answer that it was saved was lost", () => {
    const draft = addItem(addItem(startDraft(PLAN), "D "), "E");
    const saved: Todo[] = [...PLAN, { id: "4", content: "D", status: "pending" }];
    const next = rebased(draft, saved);
    expect(next.base).toEqual(saved);
    expect(next.mine.map(({ content }) => content)).toEqual(["A", "B", "C", "D", "E"]);
    expect(isDirty(rebased(addItem(startDraft(PLAN), "D"), saved))).toBe(false);
  });

  it("merges the agent's changes to other items and other fields of an item", () => {
    const draft = renameItem(startDraft(PLAN), "1", "A, but better");
    const theirs: Todo[] = [
      { ...A, note: "Nearly" },
      { ...B, status: "in_progress" },
      C,
      { id: "4", content: "New", status: "pending" },
    ];
    expect(conflictsOf(draft, theirs)).toEqual([]);
    const next = rebased(draft, theirs);
    expect(next.base).toEqual(theirs);
    expect(next.mine).toEqual([{ ...A, content: "A, but better", note: "Nearly" }, ...theirs.slice(1)]);
  });

  it("shows a field that both sides changed until the user decides", () => {
    const draft = renameItem(startDraft(PLAN), "1", "Mine");
    const theirs: Todo[] = [{ ...A, content: "Theirs", status: "completed" }, B, C];
    const next = rebased(draft, theirs);
    const [conflict] = conflictsOf(next, theirs);
    expect(conflict).toMatchObject({ id: "1", mine: { content: "Mine" }, theirs: { content: "Theirs" } });
    const kept = settle(next, conflict!, "mine");
    expect(conflictsOf(kept, theirs)).toEqual([]);
    expect(rebased(kept, theirs).mine).toEqual([{ ...A, content: "Mine", status: "completed" }, B, C]);
    const taken = settle(next, conflict!, "theirs");
    expect(rebased(taken, theirs).mine).toEqual(theirs);
  });

  it("asks about an item that one side removed and the other side changed", () => {
    const removed = removeItem(startDraft(PLAN), "3");
    const theirs: Todo[] = [A, B, { ...C, status: "in_progress" }];
    const [conflict] = conflictsOf(removed, theirs);
    expect(conflict).toMatchObject({ id: "3", mine: undefined });
    expect(rebased(settle(removed, conflict!, "mine"), theirs).mine).toEqual([A, B]);
    expect(rebased(settle(removed, conflict!, "theirs"), theirs).mine).toEqual(theirs);

    const renamed = rebased(renameItem(startDraft(PLAN), "3", "C2"), [A, B]);
    const [other] = conflictsOf(renamed, [A, B]);
    expect(other).toMatchObject({ id: "3", theirs: undefined });
    expect(toSend(rebased(settle(renamed, other!, "mine"), [A, B]).mine).at(-1)).toEqual({
      content: "C2",
      status: "pending",
    });
    expect(rebased(settle(renamed, other!, "theirs"), [A, B]).mine).toEqual([A, B]);
  });

  it("keeps every change of the agent that the user did not touch", () => {
    const item = fc.record({ content: fc.constantFrom("x", "y", "z"), status: fc.constantFrom(...STATUSES) });
    const plan = fc
      .uniqueArray(fc.tuple(fc.constantFrom("1", "2", "3", "4"), item), { selector: ([id]) => id })
      .map((list) => list.map(([id, rest]): Todo => ({ id, ...rest })));
    fc.assert(
      fc.property(plan, plan, plan, (base, mine, theirs) => {
        const draft = { base, mine };
        const next = rebased(draft, theirs);
        // What is in conflict before is so afterwards, and nothing else.
        expect(
          conflictsOf(next, theirs)
            .map(({ id }) => id)
            .toSorted(),
        ).toEqual(
          conflictsOf(draft, theirs)
            .map(({ id }) => id)
            .toSorted(),
        );
        let settled = next;
        for (const conflict of conflictsOf(next, theirs)) settled = settle(settled, conflict, "theirs");
        expect(conflictsOf(settled, theirs)).toEqual([]);
        const result = new Map(rebased(settled, theirs).mine.map((todo) => [todo.id, todo]));
        const untouched = theirs.filter(({ id }) => {
          const [was, own] = [base, mine].map((list) => list.find((todo) => todo.id === id));
          return was && own && was.content === own.content && was.status === own.status;
        });
        expect(untouched.map(({ id }) => result.get(id))).toEqual(untouched);
      }),
    );
  });
});
