import { applyUpdate, nextStartable, type Change, type Mark, type Todo } from "../../../plan/index.ts";
import { nextMarks } from "../../../plan/todo/actuals.ts";
import type { PlanSetup } from "../setup.ts";
import { planFrom, type PlanState } from "../state.ts";

/** An item that was started, in the plan as it is then. */
export interface Started {
  changes: Change[];
  todos: readonly Todo[];
  marks: Record<string, Mark>;
}

/**
 * Starts the next item when sub-agents have ended side by side and left none in progress, where the policy says so.
 * Done by the model call after them and not by the last of them: that one may be in another process.
 */
export function startNext(
  { preset: { policy } }: PlanSetup,
  state: PlanState,
  now: Mark,
): Started | undefined {
  const { todos, memory } = state;
  if (!memory.startNext || policy.idle !== "start") return undefined;
  const next = todos.some(({ status }) => status === "in_progress") ? undefined : nextStartable(todos);
  const result = next && applyUpdate(planFrom(state), { start: next.id }, policy);
  if (!result?.ok) return undefined;
  const { changes, plan } = result;
  return {
    changes,
    todos: plan.todos,
    marks: nextMarks({ before: todos, after: plan.todos, marks: memory.marks, now }),
  };
}
