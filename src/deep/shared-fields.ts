import { StateGraph, type StateDefinitionInit } from "@langchain/langgraph";
import { HarnessError } from "../errors.ts";

/** The fields that a sub-agent has in common with its parent. Throws `invalid-options` for one without a reducer. */
export function sharedFields(
  parent: StateDefinitionInit | undefined,
  own: StateDefinitionInit | undefined,
  name: string,
): string[] {
  if (parent === undefined || own === undefined) return [];
  const [theirs, declared] = [channelsOf(parent), channelsOf(own)];
  const shared = Object.keys(declared).filter(
    (field) => Object.hasOwn(theirs, field) && field !== "messages",
  );
  const plain = shared.find((field) => theirs[field]!.lc_graph_name !== REDUCED);
  if (plain === undefined) return shared;
  throw new HarnessError(
    "invalid-options",
    `createDeepAgent: subagents.${name} shares the field "${plain}", which has no reducer in the agent's stateSchema: several sub-agents may change it at the same time. Make it a ReducedValue.`,
  );
}

const REDUCED = "BinaryOperatorAggregate";

/** LangGraph reads every kind of schema. */
function channelsOf(schema: StateDefinitionInit): Record<string, { lc_graph_name: string }> {
  const { channels } = new StateGraph(schema as never) as { channels: object };
  return channels as Record<string, { lc_graph_name: string }>;
}
