import {
  EDITABLE_FIELDS,
  numberOf,
  type Change,
  type EditableField,
  type OptionalField,
  type Todo,
} from "./todo.ts";

/** The steps that lead from one list to another. `patchTodos(before, diffTodos(before, after))` is `after`. */
export function diffTodos(before: readonly Todo[], after: readonly Todo[]): Change[] {
  const changes: Change[] = [];
  const old = new Map(before.map((todo) => [todo.id, todo]));
  const kept = new Set(after.map((todo) => todo.id));
  for (const todo of before) {
    if (!kept.has(todo.id)) changes.push({ type: "todo-remove", id: todo.id });
  }
  after.forEach((todo, index) => {
    const was = old.get(todo.id);
    if (!was) {
      changes.push({ type: "todo-add", todo, index });
      return;
    }
    const edit = diffFields(was, todo);
    if (edit) changes.push(edit);
    if (was.status !== todo.status) {
      changes.push({ type: "todo-status", id: todo.id, from: was.status, to: todo.status });
    }
  });
  const order = after.map((todo) => todo.id);
  if (patchTodos(before, changes).some((todo, index) => todo.id !== order[index])) {
    changes.push({ type: "plan-reorder", order });
  }
  return changes;
}

/**
 * Applies changes to a list that may have moved on since they were made: what no longer fits is left out,
 * an added item whose id was taken meanwhile gets a new one. So changes made side by side all survive.
 */
export function patchTodos(todos: readonly Todo[], changes: readonly Change[]): Todo[] {
  let list = [...todos];
  for (const change of changes) {
    switch (change.type) {
      case "plan-reset":
        list = [];
        break;
      case "todo-add":
        list.splice(Math.min(change.index, list.length), 0, withFreeId(change.todo, list));
        break;
      case "todo-remove":
        list = list.filter((todo) => todo.id !== change.id);
        break;
      case "todo-status":
        list = list.map((todo) => (todo.id === change.id ? { ...todo, status: change.to } : todo));
        break;
      case "todo-edit":
        list = list.map((todo) => (todo.id === change.id ? edited(todo, change) : todo));
        break;
      case "plan-reorder":
        list = reordered(list, change.order);
        break;
    }
  }
  return list;
}

/** The listed ids first and in that order, everything else behind them in its old order. */
export function reordered(todos: readonly Todo[], order: readonly string[]): Todo[] {
  const rank = new Map(order.map((id, index) => [id, index]));
  const place = (todo: Todo): number => rank.get(todo.id) ?? order.length;
  return todos.toSorted((a, b) => place(a) - place(b));
}

/** Structural equality of plan values: plain objects, arrays and primitives. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b) return false;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.size &&
    left.every(([key, value]) => right.has(key) && isSame(value, right.get(key)))
  );
}

function diffFields(was: Todo, now: Todo): Extract<Change, { type: "todo-edit" }> | undefined {
  const set: Partial<Record<EditableField, unknown>> = {};
  const unset: OptionalField[] = [];
  for (const field of EDITABLE_FIELDS) {
    if (isSame(was[field], now[field])) continue;
    if (field !== "content" && now[field] === undefined) unset.push(field);
    else set[field] = now[field];
  }
  if (Object.keys(set).length === 0 && unset.length === 0) return undefined;
  return { type: "todo-edit", id: now.id, set: set as Partial<Todo>, ...(unset.length > 0 && { unset }) };
}

function edited(todo: Todo, change: Extract<Change, { type: "todo-edit" }>): Todo {
  const next: Todo = { ...todo, ...change.set };
  for (const field of change.unset ?? []) delete next[field];
  return next;
}

function withFreeId(todo: Todo, list: readonly Todo[]): Todo {
  if (!list.some((other) => other.id === todo.id)) return todo;
  return { ...todo, id: String(Math.max(0, ...list.map((other) => numberOf(other.id) ?? 0)) + 1) };
}
