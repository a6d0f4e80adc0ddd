import type { StateSnapshot } from "@langchain/langgraph";
import { isUnfinished } from "../events/ending.ts";
import { GO_ON } from "./continue.prompt.ts";

/**
 * What a thread goes on with: null where it stopped in the middle and goes on by itself, words where it ended with
 * something left and has to be asked. Undefined for a thread that is finished.
 */
export function goOnInput(state: StateSnapshot): string | null | undefined {
  if (state.tasks.length > 0) return null;
  return isUnfinished(state) ? GO_ON : undefined;
}
