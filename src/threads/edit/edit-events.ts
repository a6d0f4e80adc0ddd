import type { BaseMessage } from "@langchain/core/messages";
import { isPlanChangeEvent, readPlanState } from "../../middleware/plan/index.ts";
import { countTodos, diffTodos, type Change, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import type { RunEventBody } from "../events/index.ts";
import type { PlanEdit, BeginEdit } from "../plan/index.ts";
import { openCalls, withTasks, type Thread } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";

type PlanChange = Extract<RunEventBody, { type: "plan-change" }>;

/** A person's edit of a plan, as it is told. */
export function editEvent(
  edit: PlanEdit,
  { before, todos }: { before: readonly Todo[]; todos: Todo[] },
): PlanChange {
  const rules = readRules(edit.rules);
  const plan = { changes: diffTodos(before, todos), counts: countTodos(todos), todos };
  return { type: "plan-change", owner: MAIN, by: "person", ...plan, ...(rules && { rules }) };
}

/** Has a plan edited, and returns it as people see it, before and after: items of sub-agents at work are in progress. */
export async function editedPlan(
  thread: Thread,
  write: () => Promise<Todo[]>,
): Promise<{ before: Todo[]; todos: Todo[] }> {
  const { values } = await thread.state();
  const { messages = [] } = values as { messages?: BaseMessage[] };
  const open = openCalls(messages);
  const before = withTasks(readPlanState(values).todos, open);
  return { before, todos: withTasks(await write(), open) };
}

interface Place {
  thread: Thread;
  emit: (event: RunEventBody) => void;
}

/** Makes the edits of a run and tells of them at once: the middleware does when the model hears of them. */
export class EditEvents {
  readonly #place: Place;
  /** The edits that were published since the model last heard of edits. */
  #told = new Set<string>();

  constructor(place: Place) {
    this.#place = place;
  }

  async write(edit: PlanEdit, begin: BeginEdit | undefined): Promise<Todo[]> {
    const { thread, emit } = this.#place;
    const { before, todos } = await editedPlan(thread, () => thread.writePlan(edit, begin));
    const event = editEvent(edit, { before, todos });
    for (const change of diffTodos(before, todos)) this.#told.add(targetOf(change));
    if (event.changes.length > 0 || event.rules) emit(event);
    return todos;
  }

  /** Whether a chunk of the stream tells of nothing but what was told here. */
  isKnown(chunk: unknown): boolean {
    if (!isPlanChangeEvent(chunk) || chunk.owner !== MAIN || chunk.by !== "person") return false;
    // The plan may have gone on between the edit and the model's next call: what the person changed is what counts.
    const isTold = chunk.changes.every((change) => this.#told.has(targetOf(change)));
    this.#told = new Set();
    return isTold;
  }
}

/** The target of a change. */
function targetOf(change: Change): string {
  if (change.type === "todo-add") return `${change.type} ${change.todo.id}`;
  return "id" in change ? `${change.type} ${change.id}` : change.type;
}
