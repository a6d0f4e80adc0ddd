import type { BaseMessage } from "@langchain/core/messages";
import { isPlanChangeEvent, readPlanState } from "../../middleware/plan/index.ts";
import { countTodos, diffTodos, type Change, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/index.ts";
import type { RunEventBody } from "../events/index.ts";
import type { PlanEdit, BeginEdit } from "../plan/index.ts";
import { openCalls, withTasks, type Thread } from "../thread/index.ts";
import { MAIN } from "../view/index.ts";

type PlanChange = Extract<RunEventBody, { type: "plan-change" }>;

/** The user's edit of a plan as an event. */
export function editEvent(
  edit: PlanEdit,
  { before, todos }: { before: readonly Todo[]; todos: Todo[] },
): PlanChange {
  const rules = readRules(edit.rules);
  const plan = { changes: diffTodos(before, todos), counts: countTodos(todos), todos };
  return { type: "plan-change", owner: MAIN, by: "person", ...plan, rules };
}

/** Edits a plan with `write`, and returns it before and after, with the items of running sub-agents in progress. */
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

interface EventPlace {
  thread: Thread;
  emit: (event: RunEventBody) => void;
}

/** Makes the edits of a run and publishes them at once. The middleware reports them again when the model reads them. */
export class EditEvents {
  readonly #place: EventPlace;
  /** The targets of changes that were published since the model last read edits. */
  #published = new Set<string>();

  constructor(place: EventPlace) {
    this.#place = place;
  }

  async write(edit: PlanEdit, begin: BeginEdit | undefined): Promise<Todo[]> {
    const { thread, emit } = this.#place;
    const { before, todos } = await editedPlan(thread, () => thread.writePlan(edit, begin));
    const event = editEvent(edit, { before, todos });
    for (const change of diffTodos(before, todos)) this.#published.add(targetOf(change));
    if (event.changes.length > 0 || event.rules) emit(event);
    return todos;
  }

  /** Whether all changes in a chunk of the stream were published here. */
  isPublished(chunk: unknown): boolean {
    if (!isPlanChangeEvent(chunk) || chunk.owner !== MAIN || chunk.by !== "person") return false;
    // Compared by targets: the plan may have changed between the edit and the model's next call.
    const isPublished = chunk.changes.every((change) => this.#published.has(targetOf(change)));
    this.#published = new Set();
    return isPublished;
  }
}

function targetOf(change: Change): string {
  if (change.type === "todo-add") return `${change.type} ${change.todo.id}`;
  return "id" in change ? `${change.type} ${change.id}` : change.type;
}
