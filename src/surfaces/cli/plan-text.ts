import type { Todo } from "../../plan/index.ts";
import { planText as textOf } from "../../runs/plan-text.ts";

const HELP = `<!-- One item per line. Marks: [ ] pending, [>] in progress, [x] completed, [!] blocked, [-] cancelled.
     Keep the #ids of items you keep; write new items without one. Save and close to apply. -->
`;

/** A plan as a person edits it in a file: with a word of help. */
export function planText(todos: readonly Todo[]): string {
  return HELP + textOf(todos);
}
