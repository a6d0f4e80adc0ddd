import { isDeepStrictEqual } from "node:util";
import { isPlanChangeEvent } from "../../middleware/plan/events.ts";
import { countTodos, diffTodos, type Todo } from "../../plan/index.ts";
import { readRules } from "../../plan/read/values.ts";
import type { RunEventBody } from "../events/events.ts";
import { MAIN } from "../events/view.ts";
import type { PlanEdit } from "../plan/merged-plan.ts";
import type { BeginEdit } from "../plan/plan-edits.ts";
import type { Thread } from "../thread/thread.ts";

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

interface Place {
  thread: Thread;
  emit: (event: RunEventBody) => void;
}

/** Makes the edits of a run and tells of them at once: the middleware does when the model hears of them. */
export class EditEvents {
  readonly #place: Place;
  /** The plan as it was told last. */
  #told: readonly Todo[] | undefined;

  constructor(place: Place) {
    this.#place = place;
  }

  async write(edit: PlanEdit, begin: BeginEdit | undefined): Promise<Todo[]> {
    const { thread, emit } = this.#place;
    const before = await thread.todos();
    const todos = await thread.writePlan(edit, begin);
    const event = editEvent(edit, { before, todos });
    if (event.changes.length > 0) this.#told = todos;
    if (event.changes.length > 0 || event.rules) emit(event);
    return todos;
  }

  /** Whether a chunk of the stream tells of nothing but what was told here. */
  isKnown(chunk: unknown): boolean {
    if (!isPlanChangeEvent(chunk) || chunk.owner !== MAIN) return false;
    const isSame = chunk.by === "person" && isDeepStrictEqual(chunk.todos, this.#told);
    this.#told = undefined;
    return isSame;
  }
}
