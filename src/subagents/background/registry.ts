import type { ToolRuntime } from "../../middleware/loose-tool.ts";
import { ownerOf } from "../../middleware/plan/events.ts";
import type { BackgroundJob } from "./job.ts";

/** The jobs of one agent of a thread, by the namespace of their checkpoints. */
type Jobs = Map<string, BackgroundJob>;

/** By what saves them, and then by thread and agent; without a checkpointer a run keeps its own. */
const registries = new WeakMap<object, Map<string, Jobs>>();

/**
 * The jobs that the agent of a runtime has in this process. They are found again by the next invocation that goes on
 * with the thread, whichever agent it was built with: one that is still at work must not be started twice.
 */
export function jobsOf({ configurable = {}, writer }: ToolRuntime): Jobs {
  const saver = configurable["__pregel_checkpointer"];
  const keeper: object = typeof saver === "object" && saver !== null ? saver : (writer ?? NOBODY);
  const registry = registries.get(keeper) ?? new Map<string, Jobs>();
  registries.set(keeper, registry);
  const key = JSON.stringify([configurable["thread_id"], ownerOf({ configurable }, "main")]);
  const jobs = registry.get(key) ?? new Map<string, BackgroundJob>();
  registry.set(key, jobs);
  return jobs;
}

const NOBODY = {};

/** Stops all that is still at work for a thread, and resolves when nothing is. It goes on when the thread does. */
export async function stopJobs(saver: unknown, thread: string): Promise<void> {
  const registry = typeof saver === "object" && saver !== null ? registries.get(saver) : undefined;
  if (!registry) return;
  for (const [key, jobs] of registry) {
    if ((JSON.parse(key) as unknown[])[0] !== thread) continue;
    registry.delete(key);
    await Promise.all([...jobs.values()].map((job) => job.stop()));
  }
}
