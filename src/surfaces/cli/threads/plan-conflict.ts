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
  /** Lets the user edit a text. */
  edit: (text: string) => Promise<string>;
  /** Applies an edit. */
  apply: (edit: PlanEdit) => Promise<Todo[]>;
  /** Whether the user edits the refused text again; a throw ends the editing. */
  isAgain: (refused: HarnessError, text: string) => Promise<boolean>;
}

/**
 * Lets the user edit the plan of a thread as text until the edit is applied. Returns lines on what changed; undefined if
 * the user discards the edit. The agent continues meanwhile: conflicts are put into the text, to edit again.
 */
export async function editPlanText(
  thread: HostThread,
  { edit, apply, isAgain }: PlanEditing,
): Promise<Harmless[] | undefined> {
  const { todos: current, rules } = await thread.plan();
  let base = current;
  const original = planText(base, rules);
  for (let text = original; ;) {
    text = await edit(text);
    if (text === original) return [oneLine(PLAN_SAYS.unchanged)];
    let todos: readonly unknown[] = [];
    try {
      todos = planItems(text, base);
      const newRules = planRules(text);
      const words = savedWords(base, await apply({ todos, base, rules: newRules }));
      const hasNewRules = newRules.join("\n") !== rules.join("\n");
      return [
        ...(hasNewRules && words === PLAN_SAYS.unchanged ? [] : harmlessLines(words)),
        ...(hasNewRules ? [oneLine(`The rules are changed. ${PLAN_SAYS.heard}`)] : []),
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

/** The items that both the user and the agent changed, in both versions. */
export function conflictLines(refused: HarnessError): Harmless[] {
  const conflicts = refused instanceof PlanConflict ? refused.conflicts : [];
  return conflicts.flatMap(({ id, mine, theirs }) => [
    shown`  ${oneLine(id)} as you want it: ${oneLine(itemText(mine))}`,
    shown`  ${oneLine(id)} as it is now:   ${oneLine(itemText(theirs))}`,
  ]);
}

/** The current plan with the edits that do not conflict, and above it a comment on those that do, to edit again. */
function conflictText(
  { conflicts, todos }: PlanConflict,
  { base, sent, rules = [] }: { base: readonly Todo[]; sent: readonly unknown[]; rules?: readonly string[] },
): string {
  const isIn = ({ id }: Todo): boolean => conflicts.some((conflict) => conflict.id === id);
  const read = readEdit(base, sent);
  const mine = read.ok ? read.plan.todos.filter((todo) => !isIn(todo)) : [];
  const merge = mergeEdit({ base: base.filter((todo) => !isIn(todo)), mine, theirs: todos });
  const lines = conflicts.map((conflict) => `     ${conflict.id}: ${wish(conflict)}\n`).join("");
  const note = lines && `<!-- The agent changed these meanwhile, and you wanted:\n${lines}-->\n`;
  return note + planText(merge.ok ? merge.todos : todos, rules);
}

function itemText(todo: Todo | undefined): string {
  if (!todo) return "removed";
  const { actuals: _, ...item } = todo;
  return renderMarkdown([item]).trim();
}

/** The user's version of an item; not as a list item, which would be parsed as one of the plan. */
function wish({ mine }: Conflict): string {
  return mine ? itemText(mine).replaceAll(/\s+/g, " ").replace(/^- /, "") : "to remove it";
}

const HELP = `<!-- One item per line. Marks: [ ] pending, [>] in progress, [x] completed, [!] blocked, [-] cancelled.
     Keep the #ids of items you keep; write new items without one. Save and close to apply.
     A line such as "- change nothing in tickets/", without a mark, is a rule for the whole plan. -->
`;

/** A plan as text to edit, with a comment on the syntax. */
export function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  return HELP + textOf(todos, rules);
}
