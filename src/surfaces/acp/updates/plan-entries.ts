import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import { isClosed, type Todo } from "../../../plan/index.ts";
import { itemWords } from "../../../plan/render/index.ts";
import { editable } from "../../../threads/plan/index.ts";

export interface RuledPlan {
  todos: readonly Todo[];
  rules: readonly string[];
}

/**
 * A plan in the editor's format. The metadata of an entry has the item, as the base of edits. The protocol has no rules:
 * each is an entry before the items, completed when all items are closed.
 */
export function planUpdate({ todos, rules }: RuledPlan): SessionUpdate {
  const status = todos.every(isClosed) ? "completed" : "in_progress";
  const entries = rules.map((rule): PlanEntry => ({ content: `Rule: ${rule}`, priority: "high", status }));
  return { sessionUpdate: "plan", entries: [...entries, ...editable(todos).map(toEntry)] };
}

/** An item as an entry. The protocol has three states: blocked items are pending, cancelled ones completed, and the text says so. */
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
