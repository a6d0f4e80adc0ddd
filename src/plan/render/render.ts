import { type Status } from "../../vocabulary.ts";
import { nextAfterCurrent, unmetDependencies, countTodos, isOpen, type Todo } from "../todo/index.ts";

/** The mark of each status in texts. */
export const MARKS: Readonly<Record<Status, string>> = {
  pending: "[ ]",
  in_progress: "[>]",
  completed: "[x]",
  blocked: "[!]",
  cancelled: "[-]",
};

/** An item's content, with "(unverified)" if there was no evidence of its work. */
export function itemWords({ content, unverified }: Pick<Todo, "content" | "unverified">): string {
  return unverified ? `${content} (unverified)` : content;
}

/**
 * The checklist of the TodoWrite lesson: one `[x] #1: text` line per item and `(n/m completed)`.
 *
 * @example
 * ```ts
 * import { renderChecklist } from "holdfast/plan";
 *
 * renderChecklist([{ id: "1", content: "Build", status: "completed" }]);
 * // "[x] #1: Build\n\n(1/1 completed)"
 * ```
 */
export function renderChecklist(todos: readonly Todo[]): string {
  const lines = todos.map((todo) => `${MARKS[todo.status]} #${todo.id}: ${itemWords(todo)}`);
  const { completed, total } = countTodos(todos);
  return [...lines, "", `(${completed}/${total} completed)`].join("\n");
}

/**
 * A one-line status by ids: progress, items in progress, blocked or waiting items, and the item that starts after those
 * in progress unless it simply follows them.
 *
 * @example
 * ```ts
 * import { renderStatus } from "holdfast/plan";
 *
 * renderStatus([{ id: "1", content: "Build", status: "in_progress" }]); // "0/1 done; now 1."
 * ```
 */
export function renderStatus(todos: readonly Todo[]): string {
  const { completed, cancelled, total } = countTodos(todos);
  if (total === 0) return "No plan.";
  const ids = (status: Status): string =>
    todos
      .filter((todo) => todo.status === status)
      .map((todo) => todo.id)
      .join(", ");
  const next = nextAfterCurrent(todos);
  const parts = [`${completed}/${total - cancelled} done`];
  if (ids("in_progress")) parts.push(`now ${ids("in_progress")}`);
  if (next && !follows(next, todos)) parts.push(`next ${next.id}`);
  if (!next)
    parts.push(
      ...todos
        .filter((todo) => todo.status === "pending")
        .slice(0, 3)
        .map((todo) => `${todo.id} waits on ${unmetDependencies(todo, todos).join(", ")}`),
    );
  if (ids("blocked")) parts.push(`blocked ${ids("blocked")}`);
  return `${parts.join("; ")}.`;
}

/**
 * The whole plan with its rules, for a model that no longer sees it, in few tokens: a line for each item, and one with
 * the ids of all cancelled items.
 */
export function renderSnapshot(todos: readonly Todo[], rules: readonly string[] = []): string {
  const cancelled = todos.filter(({ status }) => status === "cancelled").map(({ id }) => id);
  const lines = renderLines(todos.filter(({ status }) => status !== "cancelled"));
  const last = cancelled.length > 0 ? `${MARKS.cancelled} ${cancelled.join(", ")}` : "";
  return [lines, last, rules.length > 0 ? renderRules(rules) : ""].filter(Boolean).join("\n");
}

/** The items with their details, one per line. */
export function renderLines(todos: readonly Todo[]): string {
  return todos
    .map((todo) => {
      const details = [
        todo.priority && todo.priority !== "medium" ? todo.priority : "",
        todo.dependsOn ? `after ${todo.dependsOn.join(", ")}` : "",
        todo.note && (isOpen(todo) || todo.status === "blocked") ? todo.note : "",
        todo.mustVerify && isOpen(todo) ? "must be verified" : "",
      ].filter(Boolean);
      const tail = details.length > 0 ? ` (${details.join("; ")})` : "";
      return `${MARKS[todo.status]} ${todo.id}: ${itemWords(todo)}${tail}`;
    })
    .join("\n");
}

/** The rules of a plan as a list. */
export function renderRules(rules: readonly string[]): string {
  return ["Rules:", ...rules.map((rule) => `- ${rule}`)].join("\n");
}

/** Whether an item comes right after the last one in progress, by position and by number, as a model expects. */
function follows(next: Todo, todos: readonly Todo[]): boolean {
  const before = todos[todos.indexOf(next) - 1];
  const running = todos.findLast((todo) => todo.status === "in_progress");
  return before !== undefined && before === running && Number(before.id) + 1 === Number(next.id);
}
