import type { PlanEntry, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Todo } from "../../plan/index.ts";

/** A plan as an editor shows it. */
export function planUpdate(todos: readonly Todo[]): SessionUpdate {
  return { sessionUpdate: "plan", entries: todos.map(toEntry) };
}

/** The protocol has three states: what is blocked waits, what was cancelled is over, and both are said in words. */
function toEntry({ id, content, status, priority = "medium", note, dependsOn }: Todo): PlanEntry {
  const states = { blocked: "pending", cancelled: "completed" } as const;
  const said = status === "blocked" || status === "cancelled" ? ` (${status}${note ? `: ${note}` : ""})` : "";
  return {
    content: `${content}${said}`,
    priority,
    status: status === "blocked" || status === "cancelled" ? states[status] : status,
    _meta: {
      holdfast: { id, status, ...(note !== undefined && { note }), ...(dependsOn && { dependsOn }) },
    },
  };
}
