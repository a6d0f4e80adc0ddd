import type { RunnableConfig } from "@langchain/core/runnables";
import { isCommand, type BaseCheckpointSaver, type BaseStore } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { isCompiled, lighten } from "../../langgraph/loop/index.ts";
import { isHarnessField } from "../../middleware/state/index.ts";
import type { HostedGraph } from "../../threads/host/index.ts";
import { type RunAgent, type RunGraph, isGraph, streamGraph } from "../../threads/prepare/index.ts";

/** A compiled LangGraph graph, or an agent that wraps one. */
export type ServedGraph = RunAgent | (RunGraph & LangGraphStream);

/** LangGraph types the options by the graph's node names, so no narrower type accepts every graph. */
interface LangGraphStream {
  stream: (input: never, options: never) => ReturnType<RunAgent["stream"]>;
}

/** Makes a graph for each run from its config, as `makeLeadAgent` does. */
export type GraphFactory = (
  config: RunnableConfig & { context?: unknown },
) => ServedGraph | Promise<ServedGraph>;

/** A graph, or a function that makes one for each run. */
export type GraphSource = ServedGraph | GraphFactory;

export interface GraphStores {
  checkpointer: BaseCheckpointSaver;
  store: BaseStore;
}

/** Prepares users' graphs for hosting. Throws `invalid-options` for an empty record. */
export function hostedGraphs(
  caller: string,
  graphs: Record<string, GraphSource>,
  stores: GraphStores,
): Map<string, HostedGraph> {
  const all = Object.entries(graphs);
  if (all.length === 0) throw new HarnessError("invalid-options", `${caller}: graphs is empty.`);
  return new Map(all.map(([name, source]) => [name, hostedGraph(name, source, stores)]));
}

/** Prepares a user's graph for hosting: it gets the server's checkpointer. */
export function hostedGraph(name: string, source: GraphSource, stores: GraphStores): HostedGraph {
  const sharedAgent = typeof source === "function" ? undefined : toAgent(name, source, stores);
  const build = async (config: RunnableConfig & { context?: unknown }): Promise<RunAgent> =>
    sharedAgent ?? toAgent(name, await (source as GraphFactory)(config), stores);
  let reader: Promise<RunAgent> | undefined;
  return {
    prepare: async (thread, { configurable = {}, context, metadata }) => ({
      agent: await build({
        configurable: { ...configurable, thread_id: thread },
        ...(context && { context }),
        ...(metadata && { metadata }),
      }),
      model: { name, source: "option" },
    }),
    reader: () => {
      // A failed build is not cached: a missing key may be set later.
      reader ??= build({ configurable: {} }).catch((error: unknown) => {
        reader = undefined;
        throw error;
      });
      return reader;
    },
    isWritable: (channel, { graph }) =>
      // These prefixes mark channels private to the graph's author or to LangGraph.
      !channel.startsWith("_") &&
      !channel.includes(":") &&
      !isHarnessField(graph.channels[channel]) &&
      !isBetweenNodes(channel, graph),
  };
}

/** Whether a channel only passes values between nodes: neither input nor saved, such as `jumpTo` of LangChain's agents. */
function isBetweenNodes(channel: string, graph: RunGraph): boolean {
  const { lc_graph_name: kind } = (graph.channels[channel] ?? {}) as { lc_graph_name?: string };
  const { builder } = graph as { builder?: { _inputDefinition?: object } };
  return kind === "UntrackedValue" && !Object.hasOwn(builder?._inputDefinition ?? {}, channel);
}

function toAgent(name: string, served: ServedGraph, { checkpointer, store }: GraphStores): RunAgent {
  const isAgent = "graph" in served;
  const graph = (isAgent ? served.graph : served) as RunGraph & { store?: BaseStore };
  if (typeof graph.checkpointer === "object" && graph.checkpointer !== checkpointer) {
    throw new HarnessError(
      "invalid-options",
      `createServer: the graph "${name}" has a checkpointer of its own: compile it without one, or pass that one to the server.`,
    );
  }
  graph.checkpointer = checkpointer;
  graph.store ??= store;
  if (isCompiled(graph)) lighten(graph);
  return { graph, stream: isAgent ? streamOfAgent(served) : streamOf(served) };
}

/**
 * Streams commands through the agent's graph. LangChain's agent tests them with `instanceof` and would read those of
 * another copy of LangGraph, such as the one in the command-line build, as state.
 */
function streamOfAgent(agent: RunAgent): RunAgent["stream"] {
  const graph = agent.graph as RunGraph & Partial<LangGraphStream>;
  return (input, options) =>
    isCommand(input) && graph.stream ? graph.stream(input, options as never) : agent.stream(input, options);
}

function streamOf(graph: RunGraph & LangGraphStream): RunAgent["stream"] {
  if (isGraph(graph)) return (input, options) => streamGraph(graph, input, options);
  return graph.stream.bind(graph) as RunAgent["stream"];
}
