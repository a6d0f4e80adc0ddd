import { HarnessError } from "../../errors.ts";
import { renderMarkdown, type MarkdownTodo, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import { renderRules } from "../../plan/render/index.ts";
import { editedPlan } from "../questions/index.ts";

/** A plan as people read and edit it, under its rules. */
export function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  const above = rules.length > 0 ? `${renderRules(rules)}\n\n` : "";
  return above + renderMarkdown(editable(todos));
}

/** The rules in such a text: its list items without a mark. */
export function planRules(markdown: string): string[] {
  const lines = markdown.replaceAll(/<!--[^]*?-->/g, "").split(/\r?\n/);
  return readRules(lines.flatMap((line) => /^[-*+] (?!\[.\])(.+)$/u.exec(line)?.[1] ?? [])) ?? [];
}

/** The same of a text that was not made from the plan: undefined, as they are, where it has no heading for rules. */
export function sentRules(markdown: string): string[] | undefined {
  return /^Rules:/m.test(markdown) ? planRules(markdown) : undefined;
}

/** The items of a plan as people edit them: without what they cost, which is nobody's to edit. */
export function editable(todos: readonly Todo[]): Todo[] {
  return todos.map(({ actuals: _actuals, ...todo }) => todo);
}

/** The items of an edited plan, with what they cost so far. Throws `invalid-plan`: an empty text is a change of mind. */
export function planItems(markdown: string, before: readonly Todo[]): MarkdownTodo[] {
  const { todos } = editedPlan(markdown);
  if (todos.length === 0) {
    throw new HarnessError("invalid-plan", "There are no items in it, so the plan was not changed.");
  }
  const spent = new Map(before.map(({ id, actuals }) => [id, actuals]));
  return todos.map((todo) => {
    const actuals = todo.id === undefined ? undefined : spent.get(todo.id);
    return actuals ? { ...todo, actuals } : todo;
  });
}
