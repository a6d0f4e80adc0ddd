import { RunControl } from "@langchain/langgraph";

export { anyUpdate, harnessField, isHarnessField, lastValue } from "./fields.ts";

/** Sets an entry as the newest of its map, and deletes the oldest if there are more than `max`. */
export function setBounded<Value>(map: Map<string, Value>, key: string, value: Value, max = 200): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}

/**
 * Asks a run to stop between two steps of its main agent. A plain `RunControl` also stops sub-agents half way, which
 * leaves their parent's step unfinished; with this one they finish first.
 */
export class StepControl extends RunControl {
  /** The control of a child's run, in place of its parent's. */
  static forChild(control: unknown): { control?: RunControl } {
    return control instanceof StepControl ? { control: new RunControl() } : {};
  }
}
