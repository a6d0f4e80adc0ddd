import { checkpointerOf } from "../../langgraph/index.ts";
import { ownerOf } from "../../middleware/plan/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import type { BackgroundJob } from "./job.ts";

/** The jobs of one agent of a thread, by the namespace of their checkpoints. */
type Jobs = Map<string, BackgroundJob>;

/** Jobs by checkpointer, and then by thread and agent; without a checkpointer a run keeps its own. */
const registries = new WeakMap<object, Map<string, Jobs>>();

/**
 * The jobs that the agent of a runtime has in this process. They are found again by the next invocation that goes on
 * with the thread, whichever agent it was built with: one that is still at work must not be started twice.
 */
export function jobsOf(runtime: ToolRuntime): Jobs {
  const { registry, key } = placeOf(runtime);
  const jobs = registry.get(key) ?? new Map<string, BackgroundJob>();
  registry.set(key, jobs);
  return jobs;
}

/** Lets go of all jobs of the agent of a runtime: they have been handed on. */
export function forgetJobs(runtime: ToolRuntime): void {
  const { registry, key } = placeOf(runtime);
  registry.delete(key);
}

function placeOf({ configurable = {}, writer }: ToolRuntime): { registry: Map<string, Jobs>; key: string } {
  const keeper: object = checkpointerOf(configurable) ?? writer ?? NOBODY;
  const registry = registries.get(keeper) ?? new Map<string, Jobs>();
  registries.set(keeper, registry);
  return { registry, key: JSON.stringify([configurable["thread_id"], ownerOf({ configurable }, "main")]) };
}

const NOBODY = {};

/** Stops all that is still at work for a thread. It goes on when the thread does. */
export async function stopJobs(saver: unknown, thread: string): Promise<void> {
  const registry = typeof saver === "object" && saver !== null ? registries.get(saver) : undefined;
  if (!registry) return;
  for (const [key, jobs] of registry) {
    if ((JSON.parse(key) as unknown[])[0] !== thread) continue;
    await Promise.all([...jobs.values()].map((job) => job.stop()));
    // One that does not stop is kept, so that nobody starts it a second time.
    if ([...jobs.values()].every(({ settled }) => settled)) registry.delete(key);
  }
}
