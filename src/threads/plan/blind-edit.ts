import type { Todo } from "../../plan/index.ts";
import { PlanConflict, type PlanEdit } from "./merged-plan.ts";

/**
 * Replaces the plan `now` of an active run by a list whose base is unknown. Throws a `PlanConflict` if it would undo the
 * agent's progress.
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

function isSame(item: unknown, { id, content }: Todo): boolean {
  const one = (item ?? {}) as Partial<Todo>;
  return one.id === undefined ? one.content === content : one.id === id;
}

function isBehind(item: unknown, { status }: Todo): boolean {
  const progress = PROGRESS.indexOf((item as Partial<Todo> | undefined)?.status ?? "");
  return progress >= 0 && progress < PROGRESS.indexOf(status);
}

/** The statuses of an item, in order. */
const PROGRESS = ["pending", "in_progress", "completed"];
