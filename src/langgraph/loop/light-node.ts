import { ToolMessage } from "@langchain/core/messages";
import {
  ensureConfig,
  getCallbackManagerForConfig,
  mergeConfigs,
  patchConfig,
  Runnable,
  RunnableSequence,
  type RunnableConfig,
} from "@langchain/core/runnables";
import { AsyncLocalStorageProviderSingleton as CONTEXTS } from "@langchain/core/singletons";
import { Command } from "@langchain/langgraph";
import { showResult } from "../shown-result.ts";

/** A node of a compiled graph, as far as it is used here. */
export interface RunningNode {
  bound: Runnable;
  getNode(): Runnable | undefined;
}

/** Work around each call of a node. */
export interface Around {
  /** Adds to the metadata of everything that the node runs, for whoever listens. */
  place: (config: RunnableConfig, input: unknown) => RunnableConfig;
  /** Lets others go first, where there is something to wait for. */
  yield: (input: unknown) => Promise<void> | undefined;
}

/**
 * Lets a node be called as the function it is. LangGraph makes a sequence of a node and its writers for every task,
 * which merges a configuration and watches the signal anew for each of them, and LangChain makes a tracing tree around
 * the node's function. Whoever listens is told of the node as of the sequence it was.
 */
export function lightenNode(node: RunningNode, around?: Around): void {
  const sequence = node.getNode();
  if (!(sequence instanceof RunnableSequence) || sequence.steps[0] !== node.bound) return;
  const light = new LightNode(sequence, around);
  node.getNode = () => light;
}

/** LangChain's runnable around a function of an agent's node. */
interface AgentNode extends Runnable {
  func: (input: unknown, config: RunnableConfig) => Promise<unknown>;
  config?: RunnableConfig;
}

function isAgentNode(runnable: Runnable): runnable is AgentNode {
  return "func" in runnable && "setState" in runnable;
}

class LightNode extends Runnable {
  override lc_namespace = ["holdfast", "loop"];
  /** LangGraph looks for graphs within a node here. */
  readonly steps: Runnable[];
  readonly #around: Around | undefined;
  readonly #serialized: ReturnType<Runnable["toJSON"]>;

  constructor(sequence: RunnableSequence, around: Around | undefined) {
    super();
    this.steps = sequence.steps;
    this.#around = around;
    this.#serialized = sequence.toJSON();
  }

  override async invoke(input: unknown, given: RunnableConfig = {}): Promise<unknown> {
    // Not waited for in vain: that would change who of several that run together is first.
    const before = this.#around?.yield(input);
    if (before) await before;
    const isHeard = given.callbacks !== undefined;
    const placed = isHeard ? this.#around?.place(given, input) : undefined;
    const { runId, ...config } = ensureConfig(placed ?? given);
    const listeners = isHeard ? await getCallbackManagerForConfig(config) : undefined;
    const run = await listeners?.handleChainStart(
      this.#serialized,
      asRecord("input", input),
      runId,
      undefined,
      undefined,
      undefined,
      config.runName,
    );
    const inner = run ? patchConfig(config, { callbacks: run.getChild() }) : config;
    const isTraced = listeners?.handlers.some(({ name }) => name === "langchain_tracer") ?? false;
    let result: unknown;
    try {
      result = await this.#run(input, inner, isTraced);
    } catch (error) {
      await run?.handleChainError(error);
      throw error;
    }
    if (listeners) {
      const heard = { metadata: config.metadata ?? {}, callbacks: listeners };
      for (const message of commandResults(result)) showResult(message, heard);
    }
    await run?.handleChainEnd(asRecord("output", result));
    return result;
  }

  async #run(input: unknown, config: RunnableConfig, isTraced: boolean): Promise<unknown> {
    const [bound, ...writers] = this.steps as [Runnable, ...Runnable[]];
    const running =
      isTraced || !isAgentNode(bound) ? bound.invoke(input, config) : call(bound, input, config);
    let result = await unlessStopped(running, config.signal);
    const after = this.#around?.yield(input);
    if (after) await after;
    for (const writer of writers) {
      throwIfStopped(config.signal);
      result = await writer.invoke(result, config);
    }
    return result;
  }
}

function call({ func, config: own }: AgentNode, input: unknown, given: RunnableConfig): Promise<unknown> {
  const config = own ? mergeConfigs(own, given) : given;
  return inContext(config, async () => func(input, config));
}

/** Results of calls that come in commands. */
function commandResults(output: unknown): ToolMessage[] {
  const commands = [output].flat().filter((one) => one instanceof Command);
  return commands.flatMap(({ update }) => {
    const { messages } = (Array.isArray(update) ? Object.fromEntries(update) : update) as {
      messages?: unknown;
    };
    return [messages ?? []].flat().filter((message) => ToolMessage.isInstance(message));
  });
}

/** As LangChain tells of what goes into a runnable and comes out of it. */
function asRecord(key: string, value: unknown): Record<string, unknown> {
  const isRecord = typeof value === "object" && value && !Array.isArray(value) && !(value instanceof Date);
  return isRecord ? (value as Record<string, unknown>) : { [key]: value };
}

/** Where LangChain keeps the configuration of what runs. */
const CONFIGURATION = Symbol.for("lc:child_config");
const VARIABLES = Symbol.for("lc:context_variables");

/** A tracing tree that says that nothing is traced. LangChain makes one for every call. */
let untraced: object | undefined;

function inContext<Result>(config: RunnableConfig, run: () => Result): Result {
  const contexts = CONTEXTS.getInstance();
  // Made where nothing is known: what the first run has in its context is none of the others' business.
  untraced ??= contexts.run(undefined, () => CONTEXTS.runWithConfig({}, () => contexts.getStore())) as object;
  const around = contexts.getStore() as { [VARIABLES]?: unknown } | undefined;
  const context = Object.assign(Object.create(untraced) as object, {
    extra: { [CONFIGURATION]: config },
    child_runs: [],
    ...(around?.[VARIABLES] !== undefined && { [VARIABLES]: around[VARIABLES] }),
  });
  return contexts.run(context, run);
}

/** A node's result, unless its run is stopped before. */
async function unlessStopped(result: Promise<unknown>, signal: AbortSignal | undefined): Promise<unknown> {
  if (!signal) return result;
  // Of one that is stopped already nobody waits for the result: Node would end the process for its failure.
  result.catch(() => {});
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
