import { randomUUID } from "node:crypto";

/** The fields of LangChain's hook or tool runtime that identify the run. */
export interface RunContext {
  configurable?: Record<string, unknown>;
  /** LangGraph creates one per run, and runs within the run share it. */
  writer?: unknown;
}

/** Whether a run belongs to a thread that other runs can continue. */
export function isInThread({ configurable }: RunContext): boolean {
  return ["string", "number"].includes(typeof configurable?.["thread_id"]);
}

/** The thread id of a run. A run without one gets an id of its own, so that no other run can access its files. */
export function threadIdOf(run: RunContext): string {
  return isInThread(run) ? String(run.configurable!["thread_id"]) : `run-${runIdOf(run)}`;
}

/** The context with `thread_id` always set. */
export function inThread<Context extends RunContext>(context: Context): Context {
  return { ...context, configurable: { ...context.configurable, thread_id: threadIdOf(context) } };
}

const runIds = new WeakMap<object, string>();

/** An id for a run, the same in all its hooks, tools and sub-agents. */
export function runIdOf({ writer }: RunContext): string {
  if (typeof writer !== "function") return randomUUID();
  const id = runIds.get(writer) ?? randomUUID();
  runIds.set(writer, id);
  return id;
}
