import type { Change, Todo } from "../../plan/index.ts";
import type { MemoryUpdate, PlanState } from "./state.ts";

/** What the model knows of an item, in a few characters. */
function digest(todo: Todo): string {
  const text = JSON.stringify([todo.content, todo.priority, todo.dependsOn, todo.estimate, todo.note]);
  return `${todo.status} ${hash(text)}`;
}

/** What to remember when the model knows the items `after`, where it knew `seen` before. */
export function rememberSeen(seen: Record<string, string>, after: readonly Todo[]): MemoryUpdate {
  const update: Record<string, string | null> = {};
  for (const todo of after) {
    const now = digest(todo);
    if (seen[todo.id] !== now) update[todo.id] = now;
  }
  const present = new Set(after.map((todo) => todo.id));
  for (const id of Object.keys(seen)) if (!present.has(id)) update[id] = null;
  return { seen: update, order: after.map((todo) => todo.id).join(" ") };
}

/** What others changed since the model last knew the plan. */
export function unseenChanges({ todos, memory: { seen, order } }: PlanState): Change[] {
  const present = new Set(todos.map((todo) => todo.id));
  const removed = Object.keys(seen).filter((id) => !present.has(id));
  return [
    ...removed.map((id): Change => ({ type: "todo-remove", id })),
    ...todos.flatMap((todo, index): Change[] => {
      const known = seen[todo.id];
      const now = digest(todo);
      if (known === undefined) return [{ type: "todo-add", todo, index }];
      if (known === now) return [];
      const [status, text] = known.split(" ");
      const changes: Change[] = [];
      if (text !== now.split(" ")[1])
        changes.push({ type: "todo-edit", id: todo.id, set: visibleFields(todo) });
      if (status !== todo.status) {
        changes.push({ type: "todo-status", id: todo.id, from: status as Todo["status"], to: todo.status });
      }
      return changes;
    }),
    ...reorder(order.split(" "), todos),
  ];
}

function reorder(known: readonly string[], todos: readonly Todo[]): Change[] {
  const common = todos.map((todo) => todo.id).filter((id) => known.includes(id));
  const before = known.filter((id) => common.includes(id));
  if (common.every((id, index) => id === before[index])) return [];
  return [{ type: "plan-reorder", order: todos.map((todo) => todo.id) }];
}

function visibleFields({ content, priority, dependsOn, estimate, note }: Todo): Partial<Todo> {
  return {
    content,
    ...(priority && { priority }),
    ...(dependsOn && { dependsOn }),
    ...(estimate !== undefined && { estimate }),
    ...(note !== undefined && { note }),
  };
}

/** FNV-1a, 32 bits: enough to notice that a line of text is not the same. */
function hash(text: string): string {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return (value >>> 0).toString(36);
}
