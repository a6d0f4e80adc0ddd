import type { ReducedValue } from "@langchain/langgraph";

const reducers = new WeakSet<object>();

/** The same state field, as one that the harness alone writes: clients of a server may only read it. */
export function harnessField<Value, Input>(field: ReducedValue<Value, Input>): ReducedValue<Value, Input> {
  reducers.add(field.reducer);
  return field;
}

/** Whether a channel of a graph is such a field, of which LangGraph keeps the reducer. */
export function isHarnessField(channel: unknown): boolean {
  const { operator } = (channel ?? {}) as { operator?: object };
  return operator !== undefined && reducers.has(operator);
}
