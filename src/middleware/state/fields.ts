import { ReducedValue } from "@langchain/langgraph";
import { z } from "zod";

/**
 * A state field with the last value written. Unlike a plain field it may be written several times in one step, as
 * happens when another middleware calls the model again within a step.
 */
export function lastValue<Value>(schema: z.ZodType<Value, Value>) {
  return new ReducedValue(schema, { reducer: (_current: Value, next: Value) => next });
}

/** A schema for a state field's updates that accepts anything: the field's reducer checks them. */
export function anyUpdate<Update>(): z.ZodType<Update | undefined, Update | undefined> {
  return z.any().optional();
}

const reducers = new WeakSet<object>();

/** Marks a state field that only the harness writes: clients of a server may only read it. Returns the field. */
export function harnessField<Value, Input>(field: ReducedValue<Value, Input>): ReducedValue<Value, Input> {
  reducers.add(field.reducer);
  return field;
}

/** Whether a channel of a graph was made of such a field: LangGraph keeps its reducer. */
export function isHarnessField(channel: unknown): boolean {
  const { operator } = (channel ?? {}) as { operator?: object };
  return operator !== undefined && reducers.has(operator);
}
