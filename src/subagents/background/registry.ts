import { checkpointerOf } from "../../langgraph/index.ts";
import { ownerOf } from "../../middleware/plan/index.ts";
import type { ToolRuntime } from "../../middleware/tools/index.ts";
import type { BackgroundJob } from "./job.ts";

/** The jobs of one agent of a thread, by the namespace of their checkpoints. */
type Jobs = Map<string, BackgroundJob>;

/** Jobs by checkpointer, or by the writer of a run without one, and then by thread and agent. */
const registries = new WeakMap<object, Map<string, Jobs>>();

/**
 * The jobs of a runtime's agent in this process. The next invocation of the thread finds them, even with a newly built
 * agent: a job that is still at work must not be started twice.
 */
export function jobsOf(runtime: ToolRuntime): Jobs {
  const { registry, key } = jobsFor(runtime);
  const jobs = registry.get(key) ?? new Map<string, BackgroundJob>();
  registry.set(key, jobs);
  return jobs;
}

/** Deletes all jobs of a runtime's agent from the registry, when they have been reported. */
export function forgetJobs(runtime: ToolRuntime): void {
  const { registry, key } = jobsFor(runtime);
  registry.delete(key);
}

function jobsFor({ configurable = {}, writer }: ToolRuntime): { registry: Map<string, Jobs>; key: string } {
  const scope: object = checkpointerOf(configurable) ?? writer ?? NO_SCOPE;
  const registry = registries.get(scope) ?? new Map<string, Jobs>();
  registries.set(scope, registry);
  return { registry, key: JSON.stringify([configurable["thread_id"], ownerOf({ configurable }, "main")]) };
}

const NO_SCOPE = {};

/** Stops all jobs of a thread. They continue when the thread does. */
export async function stopJobs(saver: unknown, thread: string): Promise<void> {
  const registry = typeof saver === "object" && saver !== null ? registries.get(saver) : undefined;
  if (!registry) return;
  for (const [key, jobs] of registry) {
    if ((JSON.parse(key) as unknown[])[0] !== thread) continue;
    await Promise.all([...jobs.values()].map((job) => job.stop()));
    // A job that does not stop stays registered, so that it is not started a second time.
    if ([...jobs.values()].every(({ settled }) => settled)) registry.delete(key);
  }
}
