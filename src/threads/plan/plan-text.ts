import { HarnessError } from "../../errors.ts";
import { renderMarkdown, type MarkdownTodo, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import { renderRules } from "../../plan/render/index.ts";
import { editedPlan } from "../questions/index.ts";

/** A plan with its rules as Markdown, as users read and edit it. */
export function planText(todos: readonly Todo[], rules: readonly string[] = []): string {
  const above = rules.length > 0 ? `${renderRules(rules)}\n\n` : "";
  return above + renderMarkdown(editable(todos));
}

/** The rules in such a text: its list items without a checkbox. */
export function planRules(markdown: string): string[] {
  const lines = markdown.replaceAll(/<!--[^]*?-->/g, "").split(/\r?\n/);
  return readRules(lines.flatMap((line) => /^[-*+] (?!\[.\])(.+)$/u.exec(line)?.[1] ?? [])) ?? [];
}

/** The rules in a text that was not made by `planText`; undefined, for no change, if it has no heading for rules. */
export function sentRules(markdown: string): string[] | undefined {
  return /^Rules:/m.test(markdown) ? planRules(markdown) : undefined;
}

/** The items of a plan without their costs, which cannot be edited. */
export function editable(todos: readonly Todo[]): Todo[] {
  return todos.map(({ actuals: _actuals, ...todo }) => todo);
}

/** The items of an edited text, with their costs so far. Throws `invalid-plan`, also for an empty text, which cancels. */
export function planItems(markdown: string, before: readonly Todo[]): MarkdownTodo[] {
  const { todos } = editedPlan(markdown);
  if (todos.length === 0) {
    throw new HarnessError("invalid-plan", "There are no items in it, so the plan was not changed.");
  }
  const costs = new Map(before.map(({ id, actuals }) => [id, actuals]));
  return todos.map((todo) => {
    const actuals = todo.id === undefined ? undefined : costs.get(todo.id);
    return actuals ? { ...todo, actuals } : todo;
  });
}
