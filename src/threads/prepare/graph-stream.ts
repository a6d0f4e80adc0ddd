import { ensureConfig, type RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton as CONTEXTS } from "@langchain/core/singletons";
import { isPregel } from "../../langgraph/loop/index.ts";

/** The parts of a LangGraph graph that are used to stream it. */
interface StreamedGraph {
  config?: { recursionLimit?: number };
  _streamIterator(input: unknown, options: RunnableConfig): AsyncGenerator;
}

/**
 * Streams a graph without LangGraph's two outer streams: one keeps a promise of half a kilobyte for every chunk until the
 * run ends, the other makes a tracing tree for each. A caller stops the run by its `signal`.
 */
export async function streamGraph(
  graph: StreamedGraph,
  input: unknown,
  options: object,
): Promise<AsyncIterable<unknown>> {
  const { recursionLimit } = graph.config ?? {};
  const config = ensureConfig<RunnableConfig>({
    recursionLimit,
    ...options,
  });
  const chunks = graph._streamIterator(input, config);
  const unlessStopped = stopping(config.signal);
  // The run keeps the async context of its first read.
  let first: Promise<Read> | undefined = unlessStopped(
    CONTEXTS.runWithConfig(config, () => chunks.next(), true),
  );
  await first;
  const next = (): Promise<Read> => {
    const read = first ?? unlessStopped(chunks.next());
    first = undefined;
    return read;
  };
  return { [Symbol.asyncIterator]: () => ({ next, return: () => chunks.return(undefined) }) };
}

type Read = IteratorResult<unknown>;

/**
 * Rejects the current read when a run is stopped: LangGraph does not notice a stop while one of several nodes waits for a
 * retry. One abort listener for all reads of a run.
 */
function stopping(signal: AbortSignal | undefined): (reading: Promise<Read>) => Promise<Read> {
  if (!signal) return (reading) => reading;
  let stop = (): void => {};
  const onAbort = (): void => stop();
  signal.addEventListener("abort", onAbort, { once: true });
  const rest = (): void => signal.removeEventListener("abort", onAbort);
  return (reading) =>
    new Promise((resolve, reject) => {
      stop = () => reject(signal.reason as Error);
      if (signal.aborted) stop();
      reading.then(
        (read) => {
          if (read.done) rest();
          return resolve(read);
        },
        (error: Error) => {
          rest();
          return reject(error);
        },
      );
    });
}

/** Whether an object is a LangGraph graph, and not a wrapper around one. */
export function isGraph(value: object): value is StreamedGraph {
  return isPregel(value);
}
