import type { BaseCallbackHandler, CallbackHandlerMethods } from "@langchain/core/callbacks/base";
import type { RunnableConfig } from "@langchain/core/runnables";
import { isInterrupted, INTERRUPT, type StreamMode } from "@langchain/langgraph";
import type { Tracer } from "@opentelemetry/api";
import { countTodos, isClosed, type Todo } from "../../plan/index.ts";
import { type RunEvent, type RunEventBody, OUTCOME_CODES, eventIn } from "../events/index.ts";
import { Recorder } from "../record/index.ts";
import { RunEvents } from "../run/index.ts";
import { RunTrace } from "../traces/index.ts";
import { costOf, type Prices } from "../view/index.ts";
import { apiTracer } from "./api-tracer.ts";

/** An agent of `createDeepAgent`, `makeLeadAgent` or LangChain's `createAgent`. */
export interface TraceableAgent {
  invoke(input: never, config?: never): Promise<unknown>;
  stream(input: never, config?: never): Promise<AsyncIterable<unknown>>;
}

/** The options of `agent.invoke`, and of the trace. */
export interface TraceRunOptions extends Omit<RunnableConfig, "callbacks"> {
  tracer: Tracer;
  callbacks?: (BaseCallbackHandler | CallbackHandlerMethods)[];
  /** The agent's name in spans. Default `holdfast`. */
  name?: string;
  /** The model's name in spans, such as `openai:gpt-5.1`. Default `model`. */
  model?: string;
  /** US dollars per million tokens, for the cost in spans. */
  prices?: Prices;
  /** Whether spans have messages, and arguments and results of tools. Default false. */
  hasContent?: boolean;
  /** The stream modes for `onChunk`. Default: none. */
  streamMode?: StreamMode[];
  /** Called with every chunk of these modes, including those of sub-agents, which have a namespace. */
  onChunk?: (chunk: unknown, about: { mode: StreamMode; namespace: string[] }) => void;
}

/**
 * Runs an agent as `agent.invoke` does, and records spans on a tracer of `@opentelemetry/api`: the agent, its plan items,
 * model and tool calls, sub-agents. They are children of the active span.
 *
 * @example
 * ```ts
 * import { trace } from "@opentelemetry/api";
 * import { createDeepAgent } from "holdfast";
 * import { traceRun } from "holdfast/telemetry";
 *
 * const agent = createDeepAgent({ model: "openai:gpt-5.1" });
 * const input = { messages: [{ role: "user", content: "Look around and report" }] };
 * const { messages } = await traceRun(agent, input, { tracer: trace.getTracer("my-app") });
 * ```
 */
export async function traceRun<Agent extends TraceableAgent>(
  agent: Agent,
  input: Parameters<Agent["invoke"]>[0],
  options: TraceRunOptions,
): Promise<Awaited<ReturnType<Agent["invoke"]>>> {
  const { tracer, name, model = "model", prices, hasContent, streamMode = [], onChunk, ...config } = options;
  const signal = config.signal ?? new AbortController().signal;
  const trace = new RunTrace({ tracer: await apiTracer(tracer), name, prices, hasContent });
  const thread = String(config.configurable?.["thread_id"] ?? "");
  const events = new RunEvents(thread, (event) => trace.follow(event));
  const emit = (body: RunEventBody): void => events.emit(body);
  const recorder = new Recorder(emit, signal, { prefersStreaming: false });
  let state: Values = {};
  const end = (outcome: Outcome, error?: string): void => {
    recorder.finish();
    const { usage } = events.view;
    emit({
      type: "run-end",
      outcome,
      exitCode: OUTCOME_CODES[outcome],
      counts: countTodos(state.todos ?? []),
      usage,
      cost: prices ? costOf(usage, prices) : undefined,
      error,
    });
  };
  emit({ type: "run-start", model, resumed: input === null });
  try {
    const chunks = await agent.stream(input, {
      ...config,
      callbacks: [...(config.callbacks ?? []), recorder],
      streamMode: [...new Set<StreamMode>(["values", "custom", ...streamMode])],
      subgraphs: true,
    } as never);
    for await (const entry of chunks) {
      const [namespace, mode, chunk] = entry as [string[], StreamMode, unknown];
      const event = mode === "custom" ? eventIn(chunk) : undefined;
      if (event) emit(event);
      if (mode === "values" && namespace.length === 0) state = after(state, chunk as Values);
      if (streamMode.includes(mode)) onChunk?.(chunk, { mode, namespace });
    }
  } catch (error) {
    if (signal.aborted) end("interrupted");
    else end("failed", error instanceof Error ? error.message : String(error));
    throw error;
  }
  end(outcomeOf(state));
  return state as Awaited<ReturnType<Agent["invoke"]>>;
}

type Outcome = Extract<RunEvent, { type: "run-end" }>["outcome"];

interface Values {
  todos?: readonly Todo[];
  [INTERRUPT]?: unknown[];
}

/** Adds a chunk to the state as `invoke` does: interrupts come in chunks of their own. */
function after(state: Values, chunk: Values): Values {
  if (!isInterrupted(chunk)) return chunk;
  return { ...state, [INTERRUPT]: [...(state[INTERRUPT] ?? []), ...chunk[INTERRUPT]] };
}

function outcomeOf(state: Values): Outcome {
  if (state[INTERRUPT]) return "waiting";
  return (state.todos ?? []).every(isClosed) ? "done" : "open";
}
