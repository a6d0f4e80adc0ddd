import { RunControl } from "@langchain/langgraph";

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
