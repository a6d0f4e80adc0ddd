import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph";
import { HarnessError } from "../../errors.ts";
import { isCompiled, lighten } from "../../langgraph/loop/index.ts";
import { isHarnessField } from "../../middleware/state/index.ts";
import type { HostedGraph } from "../../threads/host/index.ts";
import { type RunAgent, type RunGraph, isGraph, streamGraph } from "../../threads/prepare/index.ts";

/** A compiled graph of LangGraph's, or an agent made of one. */
export type ServedGraph = RunAgent | (RunGraph & LangGraphStream);

/** LangGraph types the options by the names of the graph's own nodes: no type of ours would take every graph. */
interface LangGraphStream {
  stream: (input: never, options: never) => ReturnType<RunAgent["stream"]>;
}

/** Makes a graph for each run from its config, as `makeLeadAgent` does. */
export type GraphFactory = (
  config: RunnableConfig & { context?: unknown },
) => ServedGraph | Promise<ServedGraph>;

/** A graph, or a function that makes one for each run. */
export type GraphSource = ServedGraph | GraphFactory;

/** The checkpointer and store of a graph. */
export interface GraphHome {
  checkpointer: BaseCheckpointSaver;
  store: BaseStore;
}

/** Makes users' own graphs such that can be hosted. Throws `invalid-options` where there are none. */
export function hostedGraphs(
  by: string,
  graphs: Record<string, GraphSource>,
  home: GraphHome,
): Map<string, HostedGraph> {
  const all = Object.entries(graphs);
  if (all.length === 0) throw new HarnessError("invalid-options", `${by}: graphs has none.`);
  return new Map(all.map(([name, source]) => [name, hostedGraph(name, source, home)]));
}

/** Makes a user's own graph one that can be hosted. It gets the server's checkpointer. */
export function hostedGraph(name: string, source: GraphSource, home: GraphHome): HostedGraph {
  const fixed = typeof source === "function" ? undefined : settled(name, source, home);
  const build = async (config: RunnableConfig & { context?: unknown }): Promise<RunAgent> =>
    fixed ?? settled(name, await (source as GraphFactory)(config), home);
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
      // What could not be built once, as without a key, may be built later.
      reader ??= build({ configurable: {} }).catch((error: unknown) => {
        reader = undefined;
        throw error;
      });
      return reader;
    },
    isWritable: (channel, { graph }) =>
      // What begins like this is private to who wrote the graph, and to LangGraph.
      !channel.startsWith("_") &&
      !channel.includes(":") &&
      !isHarnessField(graph.channels[channel]) &&
      !isBetweenNodes(channel, graph),
  };
}

/** Whether a channel is for the nodes of a graph alone: no input, and not saved, such as `jumpTo` of LangChain's agents. */
function isBetweenNodes(channel: string, graph: RunGraph): boolean {
  const { lc_graph_name: kind } = (graph.channels[channel] ?? {}) as { lc_graph_name?: string };
  const { builder } = graph as { builder?: { _inputDefinition?: object } };
  return kind === "UntrackedValue" && !Object.hasOwn(builder?._inputDefinition ?? {}, channel);
}

function settled(name: string, served: ServedGraph, { checkpointer, store }: GraphHome): RunAgent {
  const agent = "graph" in served ? served : { graph: served, stream: streamOf(served) };
  const graph = agent.graph as RunGraph & { store?: BaseStore | undefined };
  if (typeof graph.checkpointer === "object" && graph.checkpointer !== checkpointer) {
    throw new HarnessError(
      "invalid-options",
      `createServer: the graph "${name}" has a checkpointer of its own: compile it without, or give that one to the server.`,
    );
  }
  graph.checkpointer = checkpointer;
  graph.store ??= store;
  if (isCompiled(graph)) lighten(graph);
  return agent;
}

function streamOf(graph: RunGraph & LangGraphStream): RunAgent["stream"] {
  if (isGraph(graph)) return (input, options) => streamGraph(graph, input, options);
  return graph.stream.bind(graph) as RunAgent["stream"];
}
