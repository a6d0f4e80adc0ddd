import type { UpdateDraft } from "../read/read.ts";
import type { Reading } from "../read/reading.ts";
import { numberOf, type Plan } from "../todo/todo.ts";

/**
 * An update in the ids of this plan. Ids go on counting from one plan of a thread to the next; a model that counts
 * from 1 again means the items in the order in which the plan was made.
 */
export function withPresentIds(update: UpdateDraft, plan: Plan, reading: Reading): UpdateDraft {
  if (reading.policy.ids !== "stable") return update;
  const ids = new Set(plan.todos.map(({ id }) => id));
  const first = Math.min(...plan.todos.map(({ id }) => numberOf(id) ?? Infinity));
  const present = (id: string): string => {
    const number = numberOf(id) ?? Infinity;
    const meant = String(first + number - 1);
    if (number >= first || ids.has(id) || !ids.has(meant)) return id;
    reading.note(`${id} is taken for ${meant}: this plan counts from ${first}.`);
    return meant;
  };
  const named = <Of extends { id?: string; before?: string; dependsOn?: string[] }>(draft: Of): Of => ({
    ...draft,
    ...(draft.id !== undefined && { id: present(draft.id) }),
    ...(draft.before !== undefined && { before: present(draft.before) }),
    ...(draft.dependsOn && { dependsOn: draft.dependsOn.map(present) }),
  });
  return {
    start: update.start.map(named),
    done: update.done.map(named),
    cancel: update.cancel.map(named),
    block: update.block.map(named),
    add: update.add.map(({ id, ...draft }) => ({ ...named(draft), ...(id !== undefined && { id }) })),
    edit: update.edit.map(named),
    move: update.move.map(named),
    order: update.order.map(present),
  };
}
