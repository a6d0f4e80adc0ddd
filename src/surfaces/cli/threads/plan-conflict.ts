import { mergeEdit, readEdit, renderMarkdown, type Conflict, type Todo } from "../../../plan/index.ts";
import type { PlanConflict } from "../../../threads/plan/merged-plan.ts";
import { oneLine, shown, type Harmless } from "../output/harmless.ts";
import { planText } from "./plan-text.ts";

/** Each item that a person and the agent changed, as both want it. */
export function conflictLines({ conflicts }: PlanConflict): Harmless[] {
  return conflicts.flatMap(({ id, mine, theirs }) => [
    shown`  ${oneLine(id)} as you want it: ${oneLine(itemText(mine))}`,
    shown`  ${oneLine(id)} as it is now:   ${oneLine(itemText(theirs))}`,
  ]);
}

/** The plan as it is now with all of an edit that goes with it, and what does not in words above, to edit again. */
export function conflictText(
  { conflicts, todos }: PlanConflict,
  { base, sent, rules = [] }: { base: readonly Todo[]; sent: readonly unknown[]; rules?: readonly string[] },
): string {
  const isIn = ({ id }: Todo): boolean => conflicts.some((conflict) => conflict.id === id);
  const read = readEdit(base, sent);
  const mine = read.ok ? read.plan.todos.filter((todo) => !isIn(todo)) : [];
  const merge = mergeEdit({ base: base.filter((todo) => !isIn(todo)), mine, theirs: todos });
  const wanted = conflicts.map((conflict) => `     ${conflict.id}: ${wish(conflict)}\n`).join("");
  const note = wanted && `<!-- The agent changed these meanwhile, and you wanted:\n${wanted}-->\n`;
  return note + planText(merge.ok ? merge.todos : todos, rules);
}

function itemText(todo: Todo | undefined): string {
  if (!todo) return "removed";
  const { actuals: _, ...item } = todo;
  return renderMarkdown([item]).trim();
}

/** Not a list item, which would be read back as one of the plan. */
function wish({ mine }: Conflict): string {
  return mine ? itemText(mine).replaceAll(/\s+/g, " ").replace(/^- /, "") : "to remove it";
}
