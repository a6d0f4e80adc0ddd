import { type Status } from "../../vocabulary.ts";
import type { Reading } from "../read/index.ts";
import { unmetDependencies, type Todo } from "../todo/index.ts";

/**
 * Reverts refused completions, and the starts and completions that depend on them. Such items get back the status from
 * before the change; new ones become pending.
 */
export function revertRefused(
  todos: readonly Todo[],
  { before, refused, reading }: { before: readonly Todo[]; refused: ReadonlySet<string>; reading: Reading },
): Todo[] {
  const old = new Map(before.map((todo) => [todo.id, todo.status]));
  const reverted = (todo: Todo): Todo => ({ ...todo, status: old.get(todo.id) ?? "pending" });
  const becomes = (todo: Todo, status: Status): boolean =>
    todo.status === status && old.get(todo.id) !== status;
  const list = todos.map((todo) =>
    becomes(todo, "completed") && refused.has(todo.id) ? reverted(todo) : todo,
  );
  const { earlyStart, maxInProgress } = reading.policy;

  const items = new Map(list.map((todo) => [todo.id, todo]));
  for (let isChanged = earlyStart === "refuse"; isChanged;) {
    isChanged = false;
    for (const [at, todo] of list.entries()) {
      if (!becomes(todo, "completed") && !becomes(todo, "in_progress")) continue;
      const unmet = unmetDependencies(todo, items);
      if (unmet.length === 0) continue;
      isChanged = true;
      list[at] = reverted(todo);
      items.set(todo.id, list[at]);
      reading.note(`${todo.id} is not ${todo.status}: it waits on ${unmet.join(", ")}.`);
    }
  }

  const running = list.filter((todo) => todo.status === "in_progress");
  const started = running.filter((todo) => becomes(todo, "in_progress"));
  const allowed = Math.max(0, maxInProgress - (running.length - started.length));
  for (const todo of started.slice(allowed)) {
    list[list.indexOf(todo)] = reverted(todo);
    reading.note(`${todo.id} is not started: at most ${maxInProgress} may be in_progress.`);
  }
  return list;
}
