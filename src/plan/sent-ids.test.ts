import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyUpdate, applyWrite } from "./apply/apply.ts";
import { parseMarkdown, renderMarkdown } from "./render/markdown.ts";
import { TodoManager } from "./todo-manager.ts";
import { CHECKLIST_POLICY } from "./todo/policy.ts";
import { EMPTY_PLAN, type Plan } from "./todo/todo.ts";

const item = (text: string, id?: string | number) => ({
  text,
  status: "pending",
  ...(id !== undefined && { id }),
});
const sentId = fc.oneof(
  fc.integer({ min: 1, max: 12 }).map(String),
  fc.constantFrom("#1", " 2 ", "step one", "a, b", "2-5", "007", "constructor", 'say "x": y', "[1]"),
  fc.string({ unit: "binary", minLength: 1 }),
);
const lists = fc.array(
  fc.array(
    fc.option(sentId, { nil: undefined }).map((id) => item("text", id)),
    { maxLength: 20 },
  ),
  { minLength: 1, maxLength: 4 },
);

/** What is wrong with a list that was accepted, if anything is. */
function flaw(items: ReturnType<typeof item>[], ids: readonly string[], notes: readonly string[]): string {
  const sent = items.flatMap(({ id }) => id ?? []);
  if (ids.length !== items.length || new Set(ids).size !== ids.length) return "an item is lost";
  for (const [index, { id }] of items.entries()) {
    const position = String(index + 1);
    const wanted = id ?? (sent.includes(position) ? undefined : position);
    if (wanted !== undefined && ids[index] !== wanted) return `${String(wanted)} is called ${ids[index]}`;
    const note = `items[${index}] has the id ${ids[index]}: ${position} is another item's.`;
    if (notes.includes(note) !== (wanted === undefined)) return `wrongly told: ${notes.join(" ")}`;
  }
  return "";
}

describe("ids as in the lesson", () => {
  it("are kept as sent, else positions; no item is lost, and other ids are reported", () => {
    fc.assert(
      fc.property(lists, (writes) => {
        let plan: Plan = EMPTY_PLAN;
        for (const items of writes) {
          const sent = items.flatMap(({ id }) => id ?? []);
          const result = applyWrite(plan, { items }, CHECKLIST_POLICY);
          expect(result.ok).toBe(new Set(sent).size === sent.length);
          if (!result.ok) continue;
          plan = result.plan;
          const ids = plan.todos.map(({ id }) => id);
          expect(flaw(items, ids, result.notes)).toBe("");
        }
      }),
    );
  });

  it("survive being edited as Markdown, and can be updated one by one", () => {
    fc.assert(
      fc.property(fc.uniqueArray(sentId, { minLength: 1, maxLength: 9 }), (ids) => {
        const items = ids.map((id) => item("text", id));
        const written = applyWrite(EMPTY_PLAN, { items }, CHECKLIST_POLICY);
        if (!written.ok) throw new Error("refused");
        const { todos } = written.plan;
        expect(parseMarkdown(renderMarkdown(todos))).toEqual({ ok: true, todos });
        for (const id of ids) {
          const started = applyUpdate(written.plan, { start: id }, CHECKLIST_POLICY);
          expect(started).toMatchObject({ ok: true, changes: [{ type: "todo-status", id }] });
        }
      }),
    );
  });

  it("are the ids that a TodoManager shows, list by list", () => {
    const manager = new TodoManager();
    expect(manager.update([item("Read"), item("Build"), item("Check")])).toContain("[ ] #3: Check");
    expect(manager.update([item("Build"), item("Check", "final check")])).toBe(
      "[ ] #1: Build\n[ ] #final check: Check\n\n(0/2 completed)",
    );
    expect(manager.update([item("Build"), item("Check", 1), item("Ship", "")])).toBe(
      "[ ] #4: Build\n[ ] #1: Check\n[ ] #3: Ship\n\n(0/3 completed)",
    );
    expect(() => manager.update([item("a", "x"), item("b", "x")])).toThrow("the id x is used twice");
  });
});
