import { HarnessError } from "../errors.ts";
import { renderMarkdown, type MarkdownTodo, type Todo } from "../plan/index.ts";
import { editedPlan } from "./questions.ts";

/** A plan as people read and edit it. */
export function planText(todos: readonly Todo[]): string {
  return renderMarkdown(editable(todos));
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
