import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";

/** The `configurable` of a task: what the caller gave, and LangGraph's own keys. */
export type Configurable = Readonly<Record<string, unknown>>;

/** LangGraph's record of a task: its input, and the answers to its questions. One object per task and invocation. */
export interface Scratchpad {
  /** Answers that came for this task, or that it took before. */
  resume: unknown[];
  /** The place of the last one that was read, from 0. */
  interruptCounter: number;
  /** One that came for nobody in particular. */
  nullResume?: unknown;
  /** The state that the task was given. */
  currentTaskInput?: Record<string, unknown>;
}

export function scratchpadOf(configurable: Configurable = {}): Scratchpad | undefined {
  return configurable["__pregel_scratchpad"] as Scratchpad | undefined;
}

/** The id of the task. */
export function taskOf(configurable: Configurable = {}): string | undefined {
  return configurable["__pregel_task_id"] as string | undefined;
}

/** The checkpointer of the run; undefined where nothing is saved. */
export function checkpointerOf(configurable: Configurable = {}): BaseCheckpointSaver | undefined {
  const saver = configurable["__pregel_checkpointer"];
  return typeof saver === "object" && saver !== null ? (saver as BaseCheckpointSaver) : undefined;
}

/** Recognizes the first step of an invocation that goes on with a thread: only that one can have begun before. */
export function isResuming(configurable: Configurable = {}): boolean {
  return configurable["__pregel_resuming"] === true;
}

/** Recognizes an invocation with answers by the ids of their questions. */
export function hasAnswersById(configurable: Configurable): boolean {
  return configurable["__pregel_resume_map"] !== undefined;
}

/** The whole state that a task was given. A browser has no `AsyncLocalStorage`, by which LangGraph finds it elsewhere. */
export function taskInputOf(configurable: Configurable | undefined): Record<string, unknown> {
  return scratchpadOf(configurable)?.currentTaskInput ?? {};
}

/** Reads fields of the state, for a hook, which is given only its own. */
export function readState(configurable: Configurable, fields: readonly string[]): unknown {
  return (configurable["__pregel_read"] as (fields: readonly string[]) => unknown)(fields);
}
