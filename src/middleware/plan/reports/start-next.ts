import type { BaseMessage } from "@langchain/core/messages";
import { applyUpdate, diffTodos, type Change, type Todo } from "../../../plan/index.ts";
import { nextMarks, NO_FIGURES, type Mark, nextStartable } from "../../../plan/todo/index.ts";
import { lastTurn } from "../../tools/index.ts";
import type { PlanSetup } from "../setup.ts";
import { planFrom, type Helper, type PlanMemory, type PlanState } from "../state.ts";

/** The effect of ended sub-agents on the plan: completed items, and a started one. */
export interface Started {
  changes: Change[];
  todos: readonly Todo[];
  marks: Record<string, Mark>;
}

/**
 * Completes the items whose sub-agents have all ended well, and starts the next item if none is in progress and the
 * policy says so. The model call after the sub-agents does it, as each of them knows only of its own end, and may be in
 * another process.
 */
export function startNext(
  { preset: { policy } }: PlanSetup,
  state: PlanState,
  { now, messages }: { now: Mark; messages: readonly BaseMessage[] },
): Started | undefined {
  const { todos: before, memory } = state;
  if (!memory.startNext) return undefined;
  const rules = { ...policy, idle: "allow" as const };
  let plan = planFrom(state);
  for (const done of finishedItems(state, messages)) {
    const result = applyUpdate(plan, { done }, rules);
    if (result.ok) ({ plan } = result);
  }
  const isIdle = policy.idle === "start" && !plan.todos.some(({ status }) => status === "in_progress");
  const next = isIdle ? nextStartable(plan.todos) : undefined;
  const started = next && applyUpdate(plan, { start: next.id }, policy);
  if (started?.ok) ({ plan } = started);
  const { todos } = plan;
  const changes = diffTodos(before, todos);
  if (changes.length === 0) return undefined;
  return { changes, todos, marks: nextMarks({ before, after: todos, marks: memory.marks, now }) };
}

/** The items that several sub-agents shared, of which none is still at work or has left the item open. */
function finishedItems({ todos, memory }: PlanState, messages: readonly BaseMessage[]): string[] {
  const helpers = Object.values(memory.helpers);
  const failed = new Set(failedItems(messages));
  return todos.flatMap(({ id, status }) => {
    const own = helpers.filter(({ item }) => item === id);
    const allEndedWell = own.every(({ spent, isOpen }) => spent && !isOpen) && !failed.has(id);
    return status === "in_progress" && allEndedWell && own.some(({ isShared }) => isShared) ? id : [];
  });
}

/** The items of failed calls in the last turn, including those of sub-agents that were never started. */
function failedItems(messages: readonly BaseMessage[]): string[] {
  const { answer, results } = lastTurn(messages);
  const failed = new Set(results.flatMap((result) => (result.status === "error" ? result.tool_call_id : [])));
  return (answer?.tool_calls ?? []).flatMap(({ id = "", args }) =>
    failed.has(id) ? String(args["todo_id"]) : [],
  );
}

/** The sub-agents to remember after a model call: those at work, and the others on their items. */
export function keptHelpers(helpers: PlanMemory["helpers"]): PlanMemory["helpers"] {
  const busyItems = new Set(Object.values(helpers).flatMap(({ item, spent }) => (spent ? [] : item)));
  const entries = Object.entries(helpers).flatMap(([call, helper]): [string, Helper][] => {
    const { item, spent, isOpen, isShared } = helper;
    if (!spent) return [[call, helper]];
    if (item === undefined || !busyItems.has(item)) return [];
    // The ledger already includes its spending.
    const end = { ...(isOpen && { isOpen }), ...(isShared && { isShared }) };
    return [[call, { item, spent: NO_FIGURES, ...end }]];
  });
  return Object.fromEntries(entries);
}
