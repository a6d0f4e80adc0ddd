import { ensureConfig, type RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton as CONTEXTS } from "@langchain/core/singletons";

/** A graph of LangGraph's, as far as it is streamed. */
export interface StreamedGraph {
  config?: { recursionLimit?: number | undefined } | undefined;
  _streamIterator(input: unknown, options: RunnableConfig): AsyncGenerator;
}

/**
 * What a graph's own `stream` gives, without the two streams around it: one keeps a promise, half a kilobyte, for every
 * chunk until the run has ended, the other makes a tracing tree for each. Who stops a run here does so by its `signal`.
 */
export async function streamGraph(
  graph: StreamedGraph,
  input: unknown,
  options: object,
): Promise<AsyncIterable<unknown>> {
  const { recursionLimit } = graph.config ?? {};
  const config = ensureConfig<RunnableConfig>({
    ...(recursionLimit !== undefined && { recursionLimit }),
    ...options,
  });
  const chunks = graph._streamIterator(input, config);
  // The run goes on in the context that it is begun in.
  return beginningWith(await CONTEXTS.runWithConfig(config, () => chunks.next(), true), chunks);
}

/** What has been read of it already, and the rest. */
function beginningWith<Chunk>(
  read: IteratorResult<Chunk>,
  rest: AsyncGenerator<Chunk>,
): AsyncIterable<Chunk> {
  let first: typeof read | undefined = read;
  const next = (): Promise<typeof read> => {
    if (!first) return rest.next();
    const result = Promise.resolve(first);
    first = undefined;
    return result;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: () => rest.return(undefined) }) };
}

/** Whether it is a graph itself, and nothing that is wrapped around one. */
export function isGraph(given: object): given is StreamedGraph {
  return "lg_is_pregel" in given && given.lg_is_pregel === true;
}
