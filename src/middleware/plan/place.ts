import type { Todo } from "../../plan/index.ts";
import { OWNER_KEY, TODO_KEY, type Stage } from "./events.ts";

/** The owner and item of a call, for the metadata that callbacks see. A sub-agent's calls have them already. */
export function placeOf(todos: readonly Todo[], { configurable }: Stage): Record<string, string> {
  if (configurable?.[OWNER_KEY] !== undefined) return {};
  const items = todos.filter(({ status }) => status === "in_progress").map(({ id }) => id);
  return { [OWNER_KEY]: "main", ...(items.length > 0 && { [TODO_KEY]: items.join(",") }) };
}
