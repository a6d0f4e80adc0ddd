import { HarnessError } from "../../errors.ts";
import type { Todo } from "../../plan/index.ts";
import type { PlanEdit } from "../plan/merged-plan.ts";
import type { PlanEdits } from "../plan/plan-edits.ts";
import type { Thread } from "../thread/thread.ts";
import { requestEdit } from "./mailbox.ts";

export interface EditPlanOptions {
  /** The edits of the run in this process, if there is one: the run publishes them. */
  edits?: PlanEdits | undefined;
  /** Takes the edit back while it waits for another process. */
  signal?: AbortSignal;
  /** Gets the plan where no run of this process has told of it. */
  onMade?: (todos: readonly Todo[]) => void;
}

/**
 * Makes a person's edit of a thread's plan: in the run that is at work here, in the process that runs the thread, or
 * at once where nobody does. Throws what `requestEdit` throws.
 */
export async function editPlan(
  thread: Thread,
  edit: PlanEdit,
  { edits, signal = new AbortController().signal, onMade }: EditPlanOptions = {},
): Promise<Todo[]> {
  try {
    if (edits) return await edits.submit(edit);
  } catch (error) {
    if (HarnessError.from(error)?.code !== "run-ended") throw error;
  }
  const todos = await requestEdit(thread, edit, { signal, onWait: () => {} });
  onMade?.(todos);
  return todos;
}
