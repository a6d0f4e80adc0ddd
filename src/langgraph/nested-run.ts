import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { isRecord } from "../plan/read/index.ts";
import { scratchpadOf, taskOf, type Configurable } from "./task.ts";

/** A chunk of a graph's stream in LangGraph's form. */
export type Chunk = [namespace: string[], mode: string, payload: unknown];

/** The stream interface that LangGraph needs for a nested run. */
export interface ChunkStream {
  modes: Set<string>;
  push(chunk: Chunk): void;
  /** Whether the reader has left: later chunks are lost. */
  readonly closed?: boolean;
}

const STREAM_KEY = "__pregel_stream";

/** The caller's stream, which a nested run writes its chunks to. */
export function streamOf(configurable: Configurable = {}): ChunkStream | undefined {
  return configurable[STREAM_KEY] as ChunkStream | undefined;
}

/** The `configurable` that gives a nested run its stream. */
export function withStream(stream: ChunkStream): Configurable {
  return { [STREAM_KEY]: stream };
}

/**
 * The `configurable` of a nested run with its own signal. LangGraph would add listeners to the caller's signal for
 * every nested run, and Node warns about more than ten.
 */
export const OWN_SIGNAL: Configurable = { __pregel_abort_signals: undefined };

/** The signal of the whole run. A step has one of its own that ends with the step. */
export function runSignalOf(configurable: Configurable = {}): AbortSignal | undefined {
  const { externalAbortSignal } = (configurable["__pregel_abort_signals"] ?? {}) as {
    externalAbortSignal?: AbortSignal;
  };
  return externalAbortSignal;
}

/**
 * The `configurable` key for callers that continue while a sub-agent works: the task that waits for it and shows its
 * questions, by the caller's part of the namespace.
 */
export const ASKED_IN_KEY = "holdfast_asked_in";

/** A nested run that continues next to its caller. */
interface DetachedRun {
  /** The namespace of its checkpoints. */
  ns: string;
  stream: ChunkStream;
  isResumed: boolean;
  /** Whether an answer without an interrupt's id may be for this run. */
  mayTakeAnswer: boolean;
}

/** The `configurable` of a nested run that outlives its task. */
export function detachedConfigurable(
  configurable: Configurable,
  { ns, stream, isResumed, mayTakeAnswer }: DetachedRun,
): Record<string, unknown> {
  const pad = scratchpadOf(configurable);
  return {
    ...configurable,
    checkpoint_ns: ns,
    ...withStream(stream),
    [ASKED_IN_KEY]: {
      ...(configurable[ASKED_IN_KEY] as object | undefined),
      [ns.split("|").at(-1)!]: taskOf(configurable),
    },
    // LangGraph numbers the runs within a task and names them by the number: this is the only one.
    __pregel_scratchpad:
      pad &&
      Object.assign(Object.create(pad) as object, {
        subgraphCounter: 0,
        ...(!mayTakeAnswer && { nullResume: undefined, consumeNullResume: () => undefined }),
      }),
    ...(isResumed && { __pregel_resuming: true }),
  };
}

/**
 * Joins the interrupts of a nested run into one. LangGraph saves one interrupt per task, and a caller's task has those
 * of all its sub-agents.
 */
export function joinedInterrupts(interrupts: readonly Interrupt[]): Interrupt[] {
  const all = interrupts.flatMap(partedInterrupt);
  const first = all.find(({ value }) => isRecord(value));
  if (!first || all.length === 1) return all;
  return [{ ...first, value: { ...first.value, beside: all.filter((one) => one !== first) } }];
}

/** Splits an interrupt into itself and those that were joined to it. */
export function partedInterrupt(interrupt: Interrupt): Interrupt[] {
  const { value } = interrupt;
  if (!isRecord(value) || !Array.isArray(value["beside"])) return [interrupt];
  const { beside, ...own } = value as { beside: Interrupt[] };
  return [{ ...interrupt, value: own }, ...beside];
}

/** The state of a graph with joined interrupts split again. */
export function withPartedInterrupts(state: StateSnapshot): StateSnapshot {
  const tasks = state.tasks.map((task) => ({
    ...task,
    interrupts: task.interrupts.flatMap(partedInterrupt),
  }));
  return { ...state, tasks };
}
