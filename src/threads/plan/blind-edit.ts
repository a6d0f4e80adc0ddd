import type { Todo } from "../../plan/index.ts";
import { PlanConflict, type PlanEdit } from "./merged-plan.ts";

/**
 * A list in the place of the plan `now` of a run at work, from somebody who does not say which plan it was made of.
 * Throws a `PlanConflict` where it would take back what the agent has done.
 */
export function blindEdit(todos: readonly unknown[], now: readonly Todo[]): PlanEdit {
  const ahead = now.find((todo) =>
    isBehind(
      todos.find((one) => isSame(one, todo)),
      todo,
    ),
  );
  if (!ahead) return { todos, base: now };
  const { content, status } = ahead;
  throw new PlanConflict(
    `The plan was not changed: it has moved on meanwhile, ${JSON.stringify(content)} is ${status}. Read it again, and change that.`,
    { conflicts: [], todos: now },
  );
}

function isSame(given: unknown, { id, content }: Todo): boolean {
  const one = (given ?? {}) as Partial<Todo>;
  return one.id === undefined ? one.content === content : one.id === id;
}

function isBehind(given: unknown, { status }: Todo): boolean {
  const wanted = PROGRESS.indexOf((given as Partial<Todo> | undefined)?.status ?? "");
  return wanted >= 0 && wanted < PROGRESS.indexOf(status);
}

/** The statuses of an item, in order. */
const PROGRESS = ["pending", "in_progress", "completed"];
