import { RunControl } from "@langchain/langgraph";

/**
 * Asks a run to stop between two steps of its main agent. A plain `RunControl` stops sub-agents half way, too, which
 * leaves the step of their parent half done; with this one they finish first.
 */
export class StepControl extends RunControl {
  /** The control of a child's run in the place of its parent's. */
  static forChild(control: unknown): { control?: RunControl } {
    return control instanceof StepControl ? { control: new RunControl() } : {};
  }
}
