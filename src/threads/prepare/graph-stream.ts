import { ensureConfig, type RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton as CONTEXTS } from "@langchain/core/singletons";
import { isPregel } from "../../langgraph/loop/index.ts";

/** A graph of LangGraph's, as far as it is streamed. */
export interface StreamedGraph {
  config?: { recursionLimit?: number | undefined } | undefined;
  _streamIterator(input: unknown, options: RunnableConfig): AsyncGenerator;
}

/**
 * Streams a graph without LangGraph's two outer streams: one keeps a promise, half a kilobyte, for every chunk until
 * the run ends, the other makes a tracing tree for each. A caller stops the run by its `signal`.
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
  const unlessStopped = stopping(config.signal);
  // The run goes on in the context that it is begun in.
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
 * Lets go of what is read when a run is stopped: LangGraph itself does not hear of it while one of several nodes waits to
 * be tried again. One listener for all that a run streams, one thing after the other.
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

/** Tells a graph from what is wrapped around one. */
export function isGraph(given: object): given is StreamedGraph {
  return isPregel(given);
}
