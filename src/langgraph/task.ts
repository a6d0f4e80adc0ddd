import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** The `configurable` of a task: the caller's keys and LangGraph's own. */
export type Configurable = Readonly<Record<string, unknown>>;

/** LangGraph's record of a task: its input, and the answers to its questions. One object per task and invocation. */
export interface Scratchpad {
  /** The answers to this task's questions, including those that it has read. */
  resume: unknown[];
  /** The index of the last answer that was read. */
  interruptCounter: number;
  /** An answer without an interrupt's id. */
  nullResume?: unknown;
  /** The task's input: the graph state. */
  currentTaskInput?: Record<string, unknown>;
}

export function scratchpadOf(configurable: Configurable = {}): Scratchpad | undefined {
  return configurable["__pregel_scratchpad"] as Scratchpad | undefined;
}

export function taskOf(configurable: Configurable = {}): string | undefined {
  return configurable["__pregel_task_id"] as string | undefined;
}

export function checkpointerOf(configurable: Configurable = {}): BaseCheckpointSaver | undefined {
  const saver = configurable["__pregel_checkpointer"];
  return typeof saver === "object" && saver !== null ? (saver as BaseCheckpointSaver) : undefined;
}

/** Whether this is the first step of an invocation that resumes a thread. Only that step can have started before. */
export function isResuming(configurable: Configurable = {}): boolean {
  return configurable["__pregel_resuming"] === true;
}

/** Whether the invocation has answers by interrupt id. */
export function hasAnswersById(configurable: Configurable): boolean {
  return configurable["__pregel_resume_map"] !== undefined;
}

/** The whole state that a task got. Works in browsers, where LangGraph has no `AsyncLocalStorage` to find it. */
export function taskInputOf(configurable: Configurable | undefined): Record<string, unknown> {
  return scratchpadOf(configurable)?.currentTaskInput ?? {};
}

/** Reads fields of the state that a middleware's hook does not get. */
export function readState(configurable: Configurable, fields: readonly string[]): unknown {
  return (configurable["__pregel_read"] as (fields: readonly string[]) => unknown)(fields);
}
