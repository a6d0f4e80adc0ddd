import { isPlanChangeEvent } from "../../middleware/plan/index.ts";
import { isSummaryEvent } from "../../middleware/summarization/index.ts";
import { isSubagentEvent } from "../../subagents/index.ts";
import type { RunEventBody } from "./events.ts";

/** The event in a chunk of the `custom` stream; undefined if it is not one of ours. */
export function eventIn(chunk: unknown): RunEventBody | undefined {
  if (isPlanChangeEvent(chunk)) {
    const { owner, by, changes, counts, todos, rules } = chunk;
    const plan = { changes: [...changes], counts, todos: [...todos], rules: rules ? [...rules] : undefined };
    return { type: "plan-change", owner, by, ...plan };
  }
  if (isSummaryEvent(chunk)) {
    const { version: _, at: __, ...event } = chunk;
    return event;
  }
  if (!isSubagentEvent(chunk)) return undefined;
  const { type, owner, name, description, model, todoId, ok = true, verdict, error } = chunk;
  return type === "subagent-start"
    ? {
        type,
        owner,
        name,
        description,
        model,
        todoId,
      }
    : { type, owner, name, ok, verdict, error };
}
