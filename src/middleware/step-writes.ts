import {
  INTERRUPT,
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
} from "@langchain/langgraph-checkpoint";

export interface StepWrites {
  /** What LangGraph has saved of the tasks of the step: it runs only those again that have not finished. */
  writes: readonly CheckpointPendingWrite[];
  /** The value of the interrupt that the task at hand last stopped with. */
  asked: unknown;
}

/** Reads what was written in earlier invocations in the step that a task belongs to, from the task's configuration. */
export async function stepWrites(configurable: Record<string, unknown>): Promise<StepWrites> {
  const { thread_id, checkpoint_ns, checkpoint_map, __pregel_task_id: task } = configurable;
  const saver = configurable["__pregel_checkpointer"] as BaseCheckpointSaver | undefined;
  const step = String(checkpoint_ns).split("|").slice(0, -1).join("|");
  const checkpoint_id = (checkpoint_map as Record<string, string> | undefined)?.[step];
  const saved = await saver?.getTuple({ configurable: { thread_id, checkpoint_ns: step, checkpoint_id } });
  const writes = saved?.pendingWrites ?? [];
  const last = writes.findLast(([id, channel]) => id === task && channel === INTERRUPT);
  return { writes, asked: (last?.[2] as { value?: unknown } | undefined)?.value };
}
