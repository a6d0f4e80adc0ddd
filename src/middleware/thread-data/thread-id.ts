import { randomUUID } from "node:crypto";

/** The fields of LangChain's hook or tool runtime that identify the run. */
export interface RunContext {
  configurable?: Record<string, unknown> | undefined;
  /** LangGraph makes one for each run, and the runs within that run have it too. */
  writer?: unknown;
}

/** Whether a run belongs to a thread that other runs can go on with. */
export function isInThread({ configurable }: RunContext): boolean {
  return ["string", "number"].includes(typeof configurable?.["thread_id"]);
}

/** The thread of a run. A run without one is a thread of its own, so that nobody else comes to its files. */
export function threadIdOf(run: RunContext): string {
  return isInThread(run) ? String(run.configurable!["thread_id"]) : `run-${runIdOf(run)}`;
}

/** The context with the thread's id in it, for what knows threads only by their ids. */
export function inThread<Context extends RunContext>(context: Context): Context {
  return { ...context, configurable: { ...context.configurable, thread_id: threadIdOf(context) } };
}

const runIds = new WeakMap<object, string>();

/** An id that the hooks and tools of one run find again, and its sub-agents too. */
export function runIdOf({ writer }: RunContext): string {
  const known = typeof writer === "function" ? runIds.get(writer) : undefined;
  if (known !== undefined) return known;
  const id = randomUUID();
  if (typeof writer === "function") runIds.set(writer, id);
  return id;
}
