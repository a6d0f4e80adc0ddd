import { GraphInterrupt, isGraphInterrupt } from "@langchain/langgraph";
import { stepWrites } from "../langgraph/step-writes.ts";
import { isResuming } from "../langgraph/task.ts";
import { isRecord } from "../middleware/tools/review.ts";

/** For how many milliseconds a job had worked in earlier invocations, before it stopped to ask. */
export async function workedBefore(configurable: Record<string, unknown> | undefined): Promise<number> {
  if (!configurable || !isResuming(configurable)) return 0;
  const { asked } = await stepWrites(configurable);
  return isRecord(asked) && typeof asked["worked"] === "number" ? asked["worked"] : 0;
}

/** The same interrupt, which says how long the job has worked: its value is all that stays of this invocation. */
export function withWorked(error: unknown, worked: number): unknown {
  if (!isGraphInterrupt(error)) return error;
  return new GraphInterrupt(
    error.interrupts.map(({ value, ...rest }) => ({
      ...rest,
      value: isRecord(value) ? { ...value, worked } : value,
    })),
  );
}
