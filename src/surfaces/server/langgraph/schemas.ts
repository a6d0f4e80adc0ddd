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

/**
 * The schemas of a graph's state for clients: the fields that they may write, with their types where zod knows them.
 */
export function schemasOf(name: string, hosted: HostedGraph, agent: RunAgent): object {
  const { graph } = agent;
  const fields = Object.keys(graph.channels).filter(
    (channel) => hosted.isWritable(channel, agent) && !channel.includes(":"),
  );
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

/** The graphs that are nodes of a graph, by their names. */
export async function subgraphsOf(
  name: string,
  hosted: HostedGraph,
  { agent, namespace, isDeep }: { agent: RunAgent; namespace: string | undefined; isDeep: boolean },
): Promise<object> {
  const { graph } = agent as { graph: Partial<WithSubgraphs> };
  const found: [string, object][] = [];
  for await (const [place, subgraph] of graph.getSubgraphsAsync?.(namespace, isDeep) ?? []) {
    found.push([place, schemasOf(name, hosted, { ...agent, graph: subgraph })]);
  }
  return Object.fromEntries(found);
}

/** Not every graph is one of LangGraph's. */
interface WithSubgraphs {
  getSubgraphsAsync: (namespace?: string, recurse?: boolean) => AsyncIterable<[string, RunGraph]>;
}

/** Some types, such as dates, are none in JSON: then only the names of the fields are known. */
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
