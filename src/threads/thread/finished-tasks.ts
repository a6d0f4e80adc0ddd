import type { Interrupt } from "@langchain/langgraph";
import {
  ERROR,
  INTERRUPT,
  RESUME,
  type BaseCheckpointSaver,
  type CheckpointPendingWrite,
} from "@langchain/langgraph-checkpoint";
import { isOvertaken, partedInterrupt } from "../../langgraph/index.ts";
import { isBudgetStop } from "../../middleware/budget/index.ts";

/** Whether a thread has an open question. Needs no agent. */
export async function isAsking(saver: BaseCheckpointSaver, thread: string): Promise<boolean> {
  const { pendingWrites = [] } = (await saver.getTuple({ configurable: { thread_id: thread } })) ?? {};
  const finishedIds = finishedTasks(pendingWrites);
  return pendingWrites.some(([task, channel, write]) => {
    if (channel !== INTERRUPT || finishedIds.has(task)) return false;
    return partedInterrupt(write as Interrupt).some(
      ({ value }) => !isBudgetStop(value) && !isOvertaken({ id: task, value }, pendingWrites),
    );
  });
}

/** The ids of finished tasks. Their questions stay in the state until all tasks of the step have finished. */
export function finishedTasks(writes: readonly CheckpointPendingWrite[]): Set<string> {
  return new Set(writes.flatMap(([task, channel]) => (WAITING.includes(channel) ? [] : [task])));
}

/** Channels that unfinished tasks write. */
const WAITING: readonly string[] = [INTERRUPT, RESUME, ERROR];
