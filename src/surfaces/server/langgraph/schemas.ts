import {
  getConfigTypeSchema,
  getInputTypeSchema,
  getOutputTypeSchema,
  getStateTypeSchema,
} from "@langchain/langgraph/zod/schema";
import type { HostedGraph } from "../../../threads/host/index.ts";
import type { RunAgent, RunGraph } from "../../../threads/prepare/index.ts";

interface ObjectSchema {
  properties?: Record<string, object>;
  required?: string[];
}

/** The schemas of a graph's state: the fields that clients may write, with the types that zod has for them. */
export function schemasOf(name: string, hosted: HostedGraph, agent: RunAgent): object {
  const { graph } = agent;
  const fields = Object.keys(graph.channels).filter((channel) => hosted.isWritable(channel, agent));
  const state = schemaOf(() => getStateTypeSchema(graph));
  const settings = { type: "object", properties: {}, ...schemaOf(() => getConfigTypeSchema(graph)) };
  return {
    graph_id: name,
    input_schema: withFields(fields, schemaOf(() => getInputTypeSchema(graph)) ?? state),
    output_schema: withFields(fields, schemaOf(() => getOutputTypeSchema(graph)) ?? state),
    state_schema: withFields(fields, state),
    config_schema: settings,
    context_schema: settings,
  };
}

export async function subgraphsOf(
  name: string,
  hosted: HostedGraph,
  { agent, namespace, isDeep }: { agent: RunAgent; namespace: string | undefined; isDeep: boolean },
): Promise<object> {
  const { graph } = agent as { graph: Partial<WithSubgraphs> };
  const schemas: [string, object][] = [];
  for await (const [place, subgraph] of graph.getSubgraphsAsync?.(namespace, isDeep) ?? []) {
    schemas.push([place, schemasOf(name, hosted, { ...agent, graph: subgraph })]);
  }
  return Object.fromEntries(schemas);
}

/** A LangGraph graph; other runnables lack the method. */
interface WithSubgraphs {
  getSubgraphsAsync: (namespace?: string, recurse?: boolean) => AsyncIterable<[string, RunGraph]>;
}

/** Reads a schema; undefined if it has types without a JSON form, such as dates. */
function schemaOf(read: () => unknown): ObjectSchema | undefined {
  try {
    return read() as ObjectSchema | undefined;
  } catch {
    return undefined;
  }
}

function withFields(
  fields: readonly string[],
  { properties = {}, required = [] }: ObjectSchema = {},
): object {
  const needed = required.filter((field) => fields.includes(field));
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, properties[field] ?? {}])),
    ...(needed.length > 0 && { required: needed }),
  };
}
