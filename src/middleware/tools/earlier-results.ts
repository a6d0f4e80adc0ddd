import { scratchpadOf } from "../../langgraph/task.ts";
import type { CallResult } from "./result-marks.ts";

/** The results of the calls of its message that a call has followed, in their order. */
type ResultsBefore = (id: string) => CallResult[];

const ofTask = new WeakMap<object, ResultsBefore>();

/** Lets the tools of a task know the results of earlier calls of their message. Said by whatever keeps the order. */
export function keepEarlierResults(
  configurable: Record<string, unknown> | undefined,
  resultsBefore: ResultsBefore,
): void {
  const task = scratchpadOf(configurable);
  if (task) ofTask.set(task, resultsBefore);
}

/** The results of the calls of its message that one has followed; undefined where nothing keeps the order. */
export function earlierResults(
  id: string,
  configurable: Record<string, unknown> | undefined,
): CallResult[] | undefined {
  const task = scratchpadOf(configurable);
  return task && ofTask.get(task)?.(id);
}
