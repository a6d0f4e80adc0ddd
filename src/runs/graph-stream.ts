import { Runnable } from "@langchain/core/runnables";

/** A graph of LangGraph's, as far as it is streamed. */
export interface StreamedGraph {
  config?: { recursionLimit?: number | undefined } | undefined;
}

/**
 * What a graph's own `stream` gives, without the stream that LangGraph puts around it so that it can be cancelled: that
 * one keeps a promise, half a kilobyte, for every chunk until the run has ended. Who stops a run here does so by its
 * `signal`.
 */
export function streamGraph(
  graph: StreamedGraph,
  input: unknown,
  options: object,
): Promise<AsyncIterable<unknown>> {
  const { recursionLimit } = graph.config ?? {};
  return Runnable.prototype.stream.call(graph, input, { recursionLimit, ...options });
}

/** Whether it is a graph itself, and nothing that is wrapped around one. */
export function isGraph(given: object): given is StreamedGraph {
  return "lg_is_pregel" in given && given.lg_is_pregel === true;
}
