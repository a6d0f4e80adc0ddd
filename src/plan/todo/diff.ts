import { byId } from "./dependencies.ts";
import { Items } from "./items.ts";
import {
  EDITABLE_FIELDS,
  nextNumber,
  type Change,
  type EditableField,
  type OptionalField,
  type Todo,
} from "./todo.ts";

/**
 * The changes that lead from one list to another: `patchTodos(before, diffTodos(before, after))` equals `after`.
 *
 * @example
 * ```ts
 * import { diffTodos, type Todo } from "holdfast/plan";
 *
 * const before: Todo[] = [{ id: "1", content: "Build", status: "pending" }];
 * const after: Todo[] = [{ id: "1", content: "Build", status: "completed" }];
 * console.log(diffTodos(before, after)); // a todo-status change
 * ```
 */
export function diffTodos(before: readonly Todo[], after: readonly Todo[]): Change[] {
  const changes: Change[] = [];
  const old = byId(before);
  const current = byId(after);
  for (const todo of before) {
    if (!current.has(todo.id)) changes.push({ type: "todo-remove", id: todo.id });
  }
  after.forEach((todo, index) => {
    const previous = old.get(todo.id);
    if (!previous) {
      changes.push({ type: "todo-add", todo, index });
      return;
    }
    const edit = diffFields(previous, todo);
    if (edit) changes.push(edit);
    if (previous.status !== todo.status) {
      changes.push({ type: "todo-status", id: todo.id, from: previous.status, to: todo.status });
    }
  });
  const order = after.map((todo) => todo.id);
  if (patchTodos(before, changes).some((todo, index) => todo.id !== order[index])) {
    changes.push({ type: "plan-reorder", order });
  }
  return changes;
}

/**
 * Applies changes to a list that may have changed since they were made: a change that no longer fits is left out, and
 * an added item whose id was taken in the meantime gets a new id. So concurrent changes all survive.
 *
 * @example
 * ```ts
 * import { patchTodos, type Todo } from "holdfast/plan";
 *
 * const todos: Todo[] = [{ id: "1", content: "Build", status: "pending" }];
 * patchTodos(todos, [{ type: "todo-status", id: "1", from: "pending", to: "completed" }]);
 * ```
 */
export function patchTodos(todos: readonly Todo[], changes: readonly Change[]): Todo[] {
  let items = new Items(todos);
  const removed: string[] = [];
  for (const change of changes) {
    if (change.type === "todo-remove") {
      removed.push(change.id);
      continue;
    }
    items.remove(removed.splice(0));
    switch (change.type) {
      case "plan-reset":
        items = new Items([]);
        break;
      case "todo-add":
        items.add(withFreeId(change.todo, items), { index: change.index });
        break;
      case "todo-status":
      case "todo-edit": {
        const todo = items.get(change.id);
        if (todo) items.replace(applyChange(todo, change));
        break;
      }
      case "plan-reorder":
        items.reorder(change.order);
        break;
    }
  }
  items.remove(removed);
  return items.list;
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

function diffFields(before: Todo, after: Todo): Extract<Change, { type: "todo-edit" }> | undefined {
  const set: Partial<Record<EditableField, unknown>> = {};
  const unset: OptionalField[] = [];
  for (const field of EDITABLE_FIELDS) {
    if (isSame(before[field], after[field])) continue;
    if (field !== "content" && after[field] === undefined) unset.push(field);
    else set[field] = after[field];
  }
  if (Object.keys(set).length === 0 && unset.length === 0) return undefined;
  return { type: "todo-edit", id: after.id, set: set as Partial<Todo>, ...(unset.length > 0 && { unset }) };
}

/** Whether a change is only in what an item has cost. */
export function isFigureChange(change: Change): boolean {
  if (change.type !== "todo-edit" || change.unset) return false;
  return Object.keys(change.set).every((field) => field === "actuals");
}

function applyChange(todo: Todo, change: Extract<Change, { type: "todo-edit" | "todo-status" }>): Todo {
  if (change.type === "todo-status") return { ...todo, status: change.to };
  const next: Todo = { ...todo, ...change.set };
  for (const field of change.unset ?? []) delete next[field];
  return next;
}

function withFreeId(todo: Todo, items: Items): Todo {
  if (!items.get(todo.id)) return todo;
  let number = nextNumber(1, items.list);
  while (items.get(String(number))) number += 1;
  return { ...todo, id: String(number) };
}
