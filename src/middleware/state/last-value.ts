import { ReducedValue } from "@langchain/langgraph";
import type { z } from "zod";

/**
 * A state field whose latest value counts. Unlike a plain field it may be written several times in one step, as
 * happens when another middleware calls the model again within a step.
 */
export function lastValue<Value>(schema: z.ZodType<Value, Value>) {
  return new ReducedValue(schema, { reducer: (_current: Value, next: Value) => next });
}
