import type { Reading } from "../read/index.ts";
import { unmetDependencies, type Status, type Todo } from "../todo/index.ts";

/**
 * Takes back what a change may not do: completions that were refused, and the starts and completions that could
 * only stand on them. Such items keep the status from before the change; new ones are pending.
 */
export function withhold(
  todos: readonly Todo[],
  { before, refused, reading }: { before: readonly Todo[]; refused: ReadonlySet<string>; reading: Reading },
): Todo[] {
  const old = new Map(before.map((todo) => [todo.id, todo.status]));
  const undone = (todo: Todo): Todo => ({ ...todo, status: old.get(todo.id) ?? "pending" });
  const isNow = (todo: Todo, status: Status): boolean =>
    todo.status === status && old.get(todo.id) !== status;
  const list = todos.map((todo) => (isNow(todo, "completed") && refused.has(todo.id) ? undone(todo) : todo));
  const { earlyStart, maxInProgress } = reading.policy;

  const known = new Map(list.map((todo) => [todo.id, todo]));
  for (let found = earlyStart === "refuse"; found;) {
    found = false;
    for (const [at, todo] of list.entries()) {
      if (!isNow(todo, "completed") && !isNow(todo, "in_progress")) continue;
      const unmet = unmetDependencies(todo, known);
      if (unmet.length === 0) continue;
      found = true;
      list[at] = undone(todo);
      known.set(todo.id, list[at]);
      reading.note(`${todo.id} is not ${todo.status}: it waits on ${unmet.join(", ")}.`);
    }
  }

  const running = list.filter((todo) => todo.status === "in_progress");
  const started = running.filter((todo) => isNow(todo, "in_progress"));
  const allowed = Math.max(0, maxInProgress - (running.length - started.length));
  for (const todo of started.slice(allowed)) {
    list[list.indexOf(todo)] = undone(todo);
    reading.note(`${todo.id} is not started: at most ${maxInProgress} may be in_progress.`);
  }
  return list;
}
