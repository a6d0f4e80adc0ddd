import type { Todo } from "./todo.ts";

type ById = ReadonlyMap<string, Todo>;

export function byId(todos: readonly Todo[]): ById {
  return new Map(todos.map((todo) => [todo.id, todo]));
}

/** The ids of the dependencies that are not completed, in list order. */
export function unmetDependencies(todo: Todo, todos: readonly Todo[] | ById): string[] {
  if (!todo.dependsOn) return [];
  const items = "get" in todos ? todos : byId(todos);
  return todo.dependsOn.filter((id) => items.get(id)?.status !== "completed");
}

/** The pending item to start next: the most urgent startable one, the first in the list among equals. */
export function nextStartable(todos: readonly Todo[]): Todo | undefined {
  return startable(todos).toSorted((a, b) => urgency(a) - urgency(b))[0];
}

/** The item that starts when those in progress are completed. */
export function nextAfterCurrent(todos: readonly Todo[]): Todo | undefined {
  const after = todos.map((todo): Todo =>
    todo.status === "in_progress" ? { ...todo, status: "completed" } : todo,
  );
  return nextStartable(after);
}

/** Pending items whose dependencies are completed. */
export function startable(todos: readonly Todo[]): Todo[] {
  const items = byId(todos);
  return todos.filter((todo) => todo.status === "pending" && unmetDependencies(todo, items).length === 0);
}

/**
 * The items that can still be worked on: in progress, startable, or waiting only on such items. Excludes a pending item
 * that waits, directly or not, on a blocked or cancelled one.
 */
export function actionable(todos: readonly Todo[]): Todo[] {
  const items = byId(todos);
  const dependents = new Map<string, string[]>();
  for (const todo of todos) {
    if (todo.status !== "pending") continue;
    for (const id of unmetDependencies(todo, items)) {
      const ids = dependents.get(id);
      if (ids) ids.push(todo.id);
      else dependents.set(id, [todo.id]);
    }
  }
  const stuck = new Set(
    todos.filter((todo) => todo.status === "blocked" || todo.status === "cancelled").map((todo) => todo.id),
  );
  // The set grows while the loop walks it: an item that waits on a stuck one is stuck too.
  for (const id of stuck) for (const dependent of dependents.get(id) ?? []) stuck.add(dependent);
  return todos.filter(
    (todo) => todo.status === "in_progress" || (todo.status === "pending" && !stuck.has(todo.id)),
  );
}

/** The ids along one dependency cycle, with the first id repeated at the end; undefined if there is no cycle. */
export function findCycle(todos: readonly Todo[]): string[] | undefined {
  for (const { path, to } of closingDependencies(todos)) {
    const ids = [...path];
    return [...ids.slice(ids.indexOf(to)), to];
  }
  return undefined;
}

/**
 * The dependencies that close a cycle; without them the graph has no cycle. `path` leads to the item that has the
 * dependency.
 */
export function* closingDependencies(
  todos: readonly Todo[],
): Generator<{ from: string; to: string; path: ReadonlySet<string> }> {
  const items = byId(todos);
  const visited = new Set<string>();
  const path = new Set<string>();
  for (const root of todos) {
    // An explicit stack: a plan of hundreds of chained items must not overflow the call stack.
    const stack: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    while (stack.length > 0) {
      const frame = stack.at(-1)!;
      if (frame.next === 0) {
        if (visited.has(frame.id)) {
          stack.pop();
          continue;
        }
        path.add(frame.id);
      }
      const dependency = items.get(frame.id)?.dependsOn?.[frame.next++];
      if (dependency === undefined) {
        visited.add(frame.id);
        path.delete(frame.id);
        stack.pop();
      } else if (path.has(dependency)) {
        yield { from: frame.id, to: dependency, path };
      } else if (items.has(dependency)) {
        stack.push({ id: dependency, next: 0 });
      }
    }
  }
}

/** The order of priorities: 0 is the most urgent. */
function urgency(todo: Todo): number {
  return { high: 0, medium: 1, low: 2 }[todo.priority ?? "medium"];
}
