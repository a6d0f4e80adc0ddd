import type { Todo } from "../../plan/index.ts";
import { OWNER_KEY, TODO_KEY, type Stage } from "./events.ts";

/**
 * Whose call it is, and for which item, for the metadata that callbacks see. A sub-agent's calls say so already, with the
 * item that it was given.
 */
export function placeOf(todos: readonly Todo[], { configurable }: Stage): Record<string, string> {
  if (configurable?.[OWNER_KEY] !== undefined) return {};
  const items = todos.filter(({ status }) => status === "in_progress").map(({ id }) => id);
  return { [OWNER_KEY]: "main", ...(items.length > 0 && { [TODO_KEY]: items.join(",") }) };
}
