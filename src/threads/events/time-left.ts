import { isClosed, type Todo } from "../../plan/index.ts";

const MINUTE = 60_000;

/**
 * The estimated time for the rest of a plan, in milliseconds: its estimates, corrected by the real times of finished
 * items. Items without an estimate count as an average one. `elapsed` returns an item's time in progress. Undefined until
 * an item is finished or estimated.
 */
export function timeLeft(todos: readonly Todo[], elapsed: (todo: Todo) => number): number | undefined {
  const finished = todos.filter((todo) => todo.status === "completed" && todo.actuals);
  const left = todos.filter((todo) => !isClosed(todo) && todo.status !== "blocked");
  if (left.length === 0) return undefined;

  const estimated = finished.filter((todo) => todo.estimate);
  const took = (list: readonly Todo[]): number =>
    list.reduce((total, { actuals }) => total + (actuals?.elapsedMs ?? 0), 0);
  const guessed = estimated.reduce((total, { estimate = 0 }) => total + estimate * MINUTE, 0);
  const pace = guessed > 0 ? took(estimated) / guessed : 1;
  const average = finished.length > 0 ? took(finished) / finished.length : undefined;

  let rest = 0;
  for (const todo of left) {
    const whole = todo.estimate ? todo.estimate * MINUTE * pace : average;
    if (whole === undefined) return undefined;
    rest += Math.max(0, whole - elapsed(todo));
  }
  return rest;
}
