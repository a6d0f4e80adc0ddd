import type { PlanChangeEvent, Todo } from "holdfast";
import { MARKS, patchTodos, renderChecklist } from "holdfast/plan";

/** Shows a plan as it changes: whole when it is new, then the items that changed. */
export class PlanLog {
  #todos: readonly Todo[] = [];

  /** Applies the changes, and not the event's own list: items that follow parallel sub-agents change side by side. */
  show({ changes }: PlanChangeEvent): string {
    const isNew = this.#todos.length === 0 || changes.some(({ type }) => type === "plan-reset");
    this.#todos = patchTodos(this.#todos, changes);
    if (isNew) return `\n${this.all()}\n`;
    const ids = changes.flatMap((change) =>
      "todo" in change ? change.todo.id : "id" in change ? change.id : [],
    );
    return this.#todos
      .filter(({ id }) => ids.includes(id))
      .map(({ id, status, content }) => `${MARKS[status]} #${id}: ${content}`)
      .join("\n");
  }

  all(): string {
    return renderChecklist(this.#todos);
  }
}
