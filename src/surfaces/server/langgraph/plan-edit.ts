import { HTTPException } from "hono/http-exception";
import type { Todo } from "../../../plan/index.ts";
import type { PlanEdit } from "../../../runs/merged-plan.ts";

/**
 * A client's list in the place of the plan. LangGraph's clients do not say which plan they made it of: answers 409 where
 * it would take back what the agent has done in a run at work, whose plan is `now`.
 */
export function planEdit(
  todos: readonly unknown[],
  { base, now }: { base: unknown; now: readonly Todo[] | undefined },
): PlanEdit {
  if (Array.isArray(base)) return { todos, base: base as Todo[] };
  if (!now) return { todos };
  const done = now.find((todo) =>
    isBehind(
      todos.find((one) => isSame(one, todo)),
      todo,
    ),
  );
  if (!done) return { todos, base: now };
  throw new HTTPException(409, {
    message: `The plan was not changed: it has moved on meanwhile, ${JSON.stringify(done.content)} is ${done.status}. Read the thread again, or send the list that yours was made of as base.`,
  });
}

function isSame(given: unknown, { id, content }: Todo): boolean {
  const one = (given ?? {}) as Partial<Todo>;
  return one.id === undefined ? one.content === content : one.id === id;
}

function isBehind(given: unknown, { status }: Todo): boolean {
  const wanted = PROGRESS.indexOf((given as Partial<Todo> | undefined)?.status ?? "");
  return wanted >= 0 && wanted < PROGRESS.indexOf(status);
}

/** What an item goes through, in this order. */
const PROGRESS = ["pending", "in_progress", "completed"];
