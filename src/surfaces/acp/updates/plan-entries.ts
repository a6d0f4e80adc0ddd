import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import { isClosed, type Todo } from "../../../plan/index.ts";
import { itemWords } from "../../../plan/render/index.ts";
import { editable } from "../../../threads/plan/index.ts";

/** A plan with its rules. */
export interface RuledPlan {
  todos: readonly Todo[];
  rules: readonly string[];
}

/**
 * A plan as an editor shows it. With each entry comes the item as it is, which an edit is made of. The protocol has no
 * place for rules: each is an entry of its own in front of the items, and over when they are.
 */
export function planUpdate({ todos, rules }: RuledPlan): SessionUpdate {
  const status = todos.every(isClosed) ? "completed" : "in_progress";
  const entries = rules.map((rule): PlanEntry => ({ content: `Rule: ${rule}`, priority: "high", status }));
  return { sessionUpdate: "plan", entries: [...entries, ...editable(todos).map(toEntry)] };
}

/** The protocol has three states: what is blocked waits, what was cancelled is over, and both are said in words. */
function toEntry(todo: Todo): PlanEntry {
  const { status, priority = "medium", note } = todo;
  const states = { blocked: "pending", cancelled: "completed" } as const;
  const about =
    status === "blocked" || status === "cancelled" ? ` (${status}${note ? `: ${note}` : ""})` : "";
  return {
    content: `${itemWords(todo)}${about}`,
    priority,
    status: status === "blocked" || status === "cancelled" ? states[status] : status,
    _meta: { holdfast: todo },
  };
}
