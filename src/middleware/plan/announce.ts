import { countTodos } from "../../plan/index.ts";
import { ownerOf, type PlanChangeEvent, type Stage } from "./events.ts";
import type { PlanSetup } from "./setup.ts";

/** Sends a change to the stream and to the callback. Never throws. */
export async function announce(
  setup: PlanSetup,
  stage: Stage,
  { by, changes, todos, rules }: Pick<PlanChangeEvent, "by" | "changes" | "todos" | "rules">,
): Promise<void> {
  const event: PlanChangeEvent = {
    type: "plan-change",
    version: 1,
    owner: ownerOf(stage, setup.owner),
    by,
    at: setup.now(),
    changes,
    counts: countTodos(todos),
    todos,
    ...(rules && { rules }),
  };
  stage.writer?.(event);
  try {
    await setup.onPlanChange?.(event);
  } catch (error) {
    warn(`onPlanChange failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Emits a process warning, or logs one where there is no process, as in a browser. */
function warn(message: string): void {
  if (globalThis.process?.emitWarning) globalThis.process.emitWarning(message);
  else console.warn(message);
}
