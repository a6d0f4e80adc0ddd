import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Todo } from "../../plan/index.ts";
import { editable } from "../../runs/plan-text.ts";

/** A plan as an editor shows it. With each entry comes the item as it is, which an edit is made of. */
export function planUpdate(todos: readonly Todo[]): SessionUpdate {
  return { sessionUpdate: "plan", entries: editable(todos).map(toEntry) };
}

/** The protocol has three states: what is blocked waits, what was cancelled is over, and both are said in words. */
function toEntry(todo: Todo): PlanEntry {
  const { content, status, priority = "medium", note } = todo;
  const states = { blocked: "pending", cancelled: "completed" } as const;
  const said = status === "blocked" || status === "cancelled" ? ` (${status}${note ? `: ${note}` : ""})` : "";
  return {
    content: `${content}${said}`,
    priority,
    status: status === "blocked" || status === "cancelled" ? states[status] : status,
    _meta: { holdfast: todo },
  };
}
