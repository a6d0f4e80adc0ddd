import type { Todo } from "./todo.ts";

type ById = ReadonlyMap<string, Todo>;

export function byId(todos: readonly Todo[]): ById {
  return new Map(todos.map((todo) => [todo.id, todo]));
}

/** Ids of dependencies that are not completed yet, in the order they are listed. */
export function unmetDependencies(todo: Todo, todos: readonly Todo[] | ById): string[] {
  if (!todo.dependsOn) return [];
  const known = "get" in todos ? todos : byId(todos);
  return todo.dependsOn.filter((id) => known.get(id)?.status !== "completed");
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
  const known = byId(todos);
  return todos.filter((todo) => todo.status === "pending" && unmetDependencies(todo, known).length === 0);
}

/**
 * Items that somebody can still work on: in progress, startable, or waiting only on such items.
 * A pending item that waits on a blocked or cancelled one is not among them.
 */
export function actionable(todos: readonly Todo[]): Todo[] {
  const known = byId(todos);
  const waiting = new Map<string, string[]>();
  for (const todo of todos) {
    if (todo.status !== "pending") continue;
    for (const id of unmetDependencies(todo, known)) {
      const others = waiting.get(id);
      if (others) others.push(todo.id);
      else waiting.set(id, [todo.id]);
    }
  }
  const stuck = new Set(
    todos.filter((todo) => todo.status === "blocked" || todo.status === "cancelled").map((todo) => todo.id),
  );
  // Grows while it is walked: whoever waits on what is stuck is stuck too.
  for (const id of stuck) for (const other of waiting.get(id) ?? []) stuck.add(other);
  return todos.filter(
    (todo) => todo.status === "in_progress" || (todo.status === "pending" && !stuck.has(todo.id)),
  );
}

/** The ids along one circle of dependencies, first id repeated at the end; undefined when there is none. */
export function findCycle(todos: readonly Todo[]): string[] | undefined {
  for (const { path, to } of closingDependencies(todos)) {
    const way = [...path];
    return [...way.slice(way.indexOf(to)), to];
  }
  return undefined;
}

/** Dependencies that close a circle: without all of them there is none. `path` is the way to the item that has it. */
export function* closingDependencies(
  todos: readonly Todo[],
): Generator<{ from: string; to: string; path: ReadonlySet<string> }> {
  const known = byId(todos);
  const done = new Set<string>();
  const path = new Set<string>();
  for (const root of todos) {
    // An explicit stack: a plan of hundreds of chained items must not overflow the call stack.
    const stack: { id: string; next: number }[] = [{ id: root.id, next: 0 }];
    while (stack.length > 0) {
      const frame = stack.at(-1)!;
      if (frame.next === 0) {
        if (done.has(frame.id)) {
          stack.pop();
          continue;
        }
        path.add(frame.id);
      }
      const dependency = known.get(frame.id)?.dependsOn?.[frame.next++];
      if (dependency === undefined) {
        done.add(frame.id);
        path.delete(frame.id);
        stack.pop();
      } else if (path.has(dependency)) {
        yield { from: frame.id, to: dependency, path };
      } else if (known.has(dependency)) {
        stack.push({ id: dependency, next: 0 });
      }
    }
  }
}

function urgency(todo: Todo): number {
  return { high: 0, medium: 1, low: 2 }[todo.priority ?? "medium"];
}
