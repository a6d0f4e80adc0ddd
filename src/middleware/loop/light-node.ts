import { ensureConfig, mergeConfigs, Runnable, type RunnableConfig } from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton as CONTEXTS } from "@langchain/core/singletons";
import { placeOf } from "../plan/place.ts";
import { readPlanState } from "../plan/state.ts";

/** A node of a compiled graph, as far as it is used here. */
export interface RunningNode {
  bound: Runnable;
  getNode(): Runnable | undefined;
  getWriters(): Runnable[];
}

/**
 * Lets a node of LangChain's be called as the function it is, where nobody listens. LangGraph makes a sequence of a node
 * and its writers for every task, which merges a configuration and watches the signal anew for each of them, and
 * LangChain makes a tracing tree around the node's function.
 */
export function lightenNode(node: RunningNode): void {
  const { bound } = node;
  const sequence = node.getNode();
  if (!sequence || !isCallable(bound)) return;
  const light = new LightNode({ sequence, bound, writers: node.getWriters() });
  node.getNode = () => light;
}

/** LangChain's runnable around a function of a node. */
interface Callable extends Runnable {
  func: (input: unknown, config: RunnableConfig) => Promise<unknown>;
  config?: RunnableConfig;
}

function isCallable(bound: Runnable): bound is Callable {
  return "func" in bound && "recurse" in bound;
}

interface Parts {
  /** The node as LangGraph makes it. */
  sequence: Runnable;
  bound: Callable;
  writers: readonly Runnable[];
}

class LightNode extends Runnable {
  override lc_namespace = ["holdfast", "loop"];
  readonly #parts: Parts;

  constructor(parts: Parts) {
    super();
    this.#parts = parts;
  }

  override async invoke(input: unknown, given?: RunnableConfig): Promise<unknown> {
    const { sequence, bound, writers } = this.#parts;
    if (given?.callbacks) return sequence.invoke(input, placed(given, input));
    const config = ensureConfig(given);
    delete config.runId;
    const own = bound.config ? mergeConfigs(bound.config, config) : config;
    let result = await unlessStopped(
      inContext(own, async () => bound.func(input, own)),
      config.signal,
    );
    for (const writer of writers) {
      throwIfStopped(config.signal);
      result = await writer.invoke(result, config);
    }
    return result;
  }
}

/** Whoever listens finds in the metadata of everything that an agent with a plan runs, tools too, for which item it is. */
function placed(config: RunnableConfig, input: unknown): RunnableConfig {
  if ((input as { todos?: unknown } | undefined)?.todos === undefined) return config;
  return { ...config, metadata: { ...config.metadata, ...placeOf(readPlanState(input).todos, config) } };
}

/** Where LangChain keeps the configuration of what runs. */
const CONFIGURATION = Symbol.for("lc:child_config");
const VARIABLES = Symbol.for("lc:context_variables");

/** A tracing tree that says that nothing is traced. LangChain makes one for every call. */
let untraced: object | undefined;

function inContext<Result>(config: RunnableConfig, run: () => Result): Result {
  const contexts = CONTEXTS.getInstance();
  untraced ??= CONTEXTS.runWithConfig({}, () => contexts.getStore()) as object;
  const around = contexts.getStore() as { [VARIABLES]?: unknown } | undefined;
  const context = Object.assign(Object.create(untraced) as object, {
    extra: { [CONFIGURATION]: config },
    child_runs: [],
    ...(around?.[VARIABLES] !== undefined && { [VARIABLES]: around[VARIABLES] }),
  });
  return contexts.run(context, run);
}

/** What a node comes to, unless its run is stopped before. */
async function unlessStopped(result: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (!signal) return result;
  let stop = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  signal.addEventListener("abort", stop, { once: true });
  try {
    throwIfStopped(signal);
    return await Promise.race([result, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
    // What it says of being stopped is not what it was stopped for.
    throwIfStopped(signal);
  }
}

function throwIfStopped(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  const reason: unknown = signal.reason;
  throw reason instanceof Error ? reason : new Error(typeof reason === "string" ? reason : "Aborted");
}
