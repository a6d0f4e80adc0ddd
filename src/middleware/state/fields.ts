import { ReducedValue } from "@langchain/langgraph";
import { z } from "zod";

/**
 * A state field whose latest value counts. Unlike a plain field it may be written several times in one step, as
 * happens when another middleware calls the model again within a step.
 */
export function lastValue<Value>(schema: z.ZodType<Value, Value>) {
  return new ReducedValue(schema, { reducer: (_current: Value, next: Value) => next });
}

/** The schema of a state field's updates that accepts anything: the field's reducer is what checks them. */
export function anyUpdate<Update>(): z.ZodType<Update | undefined, Update | undefined> {
  return z.any().optional();
}

const reducers = new WeakSet<object>();

/** The same state field, as one that the harness alone writes: clients of a server may only read it. */
export function harnessField<Value, Input>(field: ReducedValue<Value, Input>): ReducedValue<Value, Input> {
  reducers.add(field.reducer);
  return field;
}

/** True for a channel of a graph that is such a field: LangGraph keeps its reducer. */
export function isHarnessField(channel: unknown): boolean {
  const { operator } = (channel ?? {}) as { operator?: object };
  return operator !== undefined && reducers.has(operator);
}
