import type { Interrupt, StateSnapshot } from "@langchain/langgraph";
import { isRecord } from "../plan/read/index.ts";
import { scratchpadOf, taskOf, type Configurable } from "./task.ts";

/** A chunk of a graph's stream as LangGraph hands it on: where it comes from, its mode, and what it says. */
export type Chunk = [namespace: string[], mode: string, payload: unknown];

/** The stream interface that LangGraph needs for a nested run. */
export interface ChunkStream {
  modes: Set<string>;
  push(chunk: Chunk): void;
  /** True where nobody reads it any more: chunks that are pushed then are lost. */
  readonly closed?: boolean;
}

const STREAM_KEY = "__pregel_stream";

/** The stream that a nested run hands its chunks on to: its caller's. */
export function streamOf(configurable: Configurable = {}): ChunkStream | undefined {
  return configurable[STREAM_KEY] as ChunkStream | undefined;
}

/** The field of a nested run's configurable that gives it a stream. */
export function withStream(stream: ChunkStream): Configurable {
  return { [STREAM_KEY]: stream };
}

/**
 * The field of a nested run that has a signal of its own. LangGraph would add listeners to the caller's signal for every
 * nested run, and Node warns from the eleventh on.
 */
export const OWN_SIGNAL: Configurable = { __pregel_abort_signals: undefined };

/** The signal of the whole run: that of a step ends with the step. */
export function runSignalOf(configurable: Configurable = {}): AbortSignal | undefined {
  const { externalAbortSignal } = (configurable["__pregel_abort_signals"] ?? {}) as {
    externalAbortSignal?: AbortSignal;
  };
  return externalAbortSignal;
}

/**
 * The configurable that says, of callers that go on while a sub-agent works, which of their tasks waits for it and
 * shows its questions, by their part of its namespace.
 */
export const ASKED_IN_KEY = "holdfast_asked_in";

/** Terms of a run that goes on while its caller does. */
interface DetachedRun {
  /** The namespace of its checkpoints. */
  ns: string;
  stream: ChunkStream;
  isResumed: boolean;
  /** An answer that was given without an interrupt's id may be for it. */
  mayTakeAnswer: boolean;
}

/** The configurable of a run within a task that has ended before the run does. */
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
    // LangGraph counts the runs within a task, and names them by that: this is the only one.
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
 * The interrupts of a nested run as one that has the others beside it: LangGraph saves one for each task, and a caller's
 * task has all that its sub-agents ask.
 */
export function joinedInterrupts(interrupts: readonly Interrupt[]): Interrupt[] {
  const all = interrupts.flatMap(partedInterrupt);
  const first = all.find(({ value }) => isRecord(value));
  if (!first || all.length === 1) return all;
  return [{ ...first, value: { ...first.value, beside: all.filter((one) => one !== first) } }];
}

/** An interrupt, and those that were joined to it. */
export function partedInterrupt(interrupt: Interrupt): Interrupt[] {
  const { value } = interrupt;
  if (!isRecord(value) || !Array.isArray(value["beside"])) return [interrupt];
  const { beside, ...own } = value as { beside: Interrupt[] };
  return [{ ...interrupt, value: own }, ...beside];
}

/** The state of a graph with each interrupt by itself. */
export function withPartedInterrupts(state: StateSnapshot): StateSnapshot {
  const tasks = state.tasks.map((task) => ({
    ...task,
    interrupts: task.interrupts.flatMap(partedInterrupt),
  }));
  return { ...state, tasks };
}
