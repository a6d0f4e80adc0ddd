import type { Todo } from "./todo.ts";

/** Ids of dependencies that are not completed yet, in the order they are listed. */
export function unmetDependencies(todo: Todo, todos: readonly Todo[]): string[] {
  if (!todo.dependsOn) return [];
  return todo.dependsOn.filter((id) => todos.find((other) => other.id === id)?.status !== "completed");
}

/** The pending item to start next: the most urgent one whose dependencies are completed, then list order. */
export function nextStartable(todos: readonly Todo[]): Todo | undefined {
  return startable(todos).reduce<Todo | undefined>(
    (best, todo) => (best && urgency(best) <= urgency(todo) ? best : todo),
    undefined,
  );
}

/** Pending items whose dependencies are completed. */
export function startable(todos: readonly Todo[]): Todo[] {
  return todos.filter((todo) => todo.status === "pending" && unmetDependencies(todo, todos).length === 0);
}

/**
 * Items that somebody can still work on: in progress, startable, or waiting only on such items.
 * A pending item that waits on a blocked or cancelled one is not among them.
 */
export function actionable(todos: readonly Todo[]): Todo[] {
  const stuck = new Set(
    todos.filter((todo) => todo.status === "blocked" || todo.status === "cancelled").map((todo) => todo.id),
  );
  for (let grew = true; grew;) {
    grew = false;
    for (const todo of todos) {
      if (todo.status !== "pending" || stuck.has(todo.id)) continue;
      if (!unmetDependencies(todo, todos).some((id) => stuck.has(id))) continue;
      stuck.add(todo.id);
      grew = true;
    }
  }
  return todos.filter(
    (todo) => todo.status === "in_progress" || (todo.status === "pending" && !stuck.has(todo.id)),
  );
}

/** The ids along one circle of dependencies, first id repeated at the end; undefined when there is none. */
export function findCycle(todos: readonly Todo[]): string[] | undefined {
  const byId = new Map(todos.map((todo) => [todo.id, todo]));
  const done = new Set<string>();
  for (const root of todos) {
    // An explicit stack: a plan of hundreds of chained items must not overflow the call stack.
    const path: string[] = [];
    const stack: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    while (stack.length > 0) {
      const frame = stack.at(-1)!;
      if (frame.next === 0) {
        if (done.has(frame.id)) {
          stack.pop();
          continue;
        }
        path.push(frame.id);
      }
      const dependency = byId.get(frame.id)?.dependsOn?.[frame.next++];
      if (dependency === undefined) {
        done.add(frame.id);
        path.pop();
        stack.pop();
        continue;
      }
      const start = path.indexOf(dependency);
      if (start >= 0) return [...path.slice(start), dependency];
      if (byId.has(dependency)) stack.push({ id: dependency, next: 0 });
    }
  }
  return undefined;
}

function urgency(todo: Todo): number {
  return { high: 0, medium: 1, low: 2 }[todo.priority ?? "medium"];
}
