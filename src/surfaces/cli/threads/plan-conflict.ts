import { HarnessError } from "../../../errors.ts";
import { mergeEdit, readEdit, type Conflict } from "../../../plan/apply/index.ts";
import { renderMarkdown, type Todo } from "../../../plan/index.ts";
import { PLAN_SAYS, savedWords } from "../../../threads/edit/index.ts";
import type { HostThread } from "../../../threads/host/index.ts";
import {
  PlanConflict,
  type PlanEdit,
  planItems,
  planRules,
  planText as textOf,
} from "../../../threads/plan/index.ts";
import { harmlessLines, oneLine, shown, type Harmless } from "../output/index.ts";

export interface PlanEditing {
  /** Lets the person change a text. */
  edit: (text: string) => Promise<string>;
  /** Has an edit made. */
  make: (edit: PlanEdit) => Promise<Todo[]>;
  /** Whether the person edits the refused text again; a throw ends the editing. */
  isAgain: (refused: HarnessError, text: string) => Promise<boolean>;
}

/**
 * Has a person edit the plan of a thread as text until it is made, and returns what was changed, in lines; undefined
 * where the person discards it. The agent goes on meanwhile: what both changed comes back to be edited again.
 */
export async function editPlanText(
  thread: HostThread,
  { edit, make, isAgain }: PlanEditing,
): Promise<Harmless[] | undefined> {
  const { todos: seen, rules } = await thread.plan();
  let base = seen;
  const original = planText(base, rules);
  for (let text = original; ;) {
    text = await edit(text);
    if (text === original) return [oneLine(PLAN_SAYS.unchanged)];
    let todos: readonly unknown[] = [];
    try {
      todos = planItems(text, base);
      const wanted = planRules(text);
      const words = savedWords(base, await make({ todos, base, rules: wanted }));
      const isRuled = wanted.join("\n") !== rules.join("\n");
      return [
        ...(isRuled && words === PLAN_SAYS.unchanged ? [] : harmlessLines(words)),
        ...(isRuled ? [oneLine(`The rules are changed. ${PLAN_SAYS.heard}`)] : []),
      ];
    } catch (error) {
      const refused = HarnessError.from(error);
      if (!refused) throw error;
      if (!(await isAgain(refused, text))) return undefined;
      if (!(refused instanceof PlanConflict)) continue;
      text = conflictText(refused, { base, sent: todos, rules: planRules(text) });
      base = [...refused.todos];
    }
  }
}

/** Each item that a person and the agent changed, as both want it. */
export function conflictLines(refused: HarnessError): Harmless[] {
  const conflicts = refused instanceof PlanConflict ? refused.conflicts : [];
  return conflicts.flatMap(({ id, mine, theirs }) => [
    shown`  ${oneLine(id)} as you want it: ${oneLine(itemText(mine))}`,
    shown`  ${oneLine(id)} as it is now:   ${oneLine(itemText(theirs))}`,
  ]);
}

/** The plan as it is now with all of an edit that goes with it, and what does not in words above, to edit again. */
function conflictText(
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

const HELP = `<!-- One item per line. Marks: [ ] pending, [>] in progress, [x] completed, [!] blocked, [-] cancelled.
     Keep the #ids of items you keep; write new items without one. Save and close to apply.
     A line such as "- change nothing in tickets/", without a mark, is a rule for the whole plan. -->
`;

/** A plan as a person edits it in a file: with a word of help. */
export function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  return HELP + textOf(todos, rules);
}
