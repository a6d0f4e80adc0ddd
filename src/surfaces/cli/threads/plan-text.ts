import type { Todo } from "../../../plan/index.ts";
import { planText as textOf } from "../../../threads/plan/plan-text.ts";

const HELP = `<!-- One item per line. Marks: [ ] pending, [>] in progress, [x] completed, [!] blocked, [-] cancelled.
     Keep the #ids of items you keep; write new items without one. Save and close to apply.
     A line such as "- change nothing in tickets/", without a mark, is a rule for the whole plan. -->
`;

/** A plan as a person edits it in a file: with a word of help. */
export function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  return HELP + textOf(todos, rules);
}
