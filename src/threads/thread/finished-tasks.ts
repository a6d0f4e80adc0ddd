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

/** Whether a thread with interrupts has a question among them; for who does not want to build its agent. */
export async function isAsking(saver: BaseCheckpointSaver, thread: string): Promise<boolean> {
  const { pendingWrites = [] } = (await saver.getTuple({ configurable: { thread_id: thread } })) ?? {};
  const finished = finishedTasks(pendingWrites);
  return pendingWrites.some(([task, channel, written]) => {
    if (channel !== INTERRUPT || finished.has(task)) return false;
    return partedInterrupt(written as Interrupt).some(
      ({ value }) => !isBudgetStop(value) && !isOvertaken({ id: task, value }, pendingWrites),
    );
  });
}

/** A task that was answered and has finished keeps its question until the others of its step have finished too. */
export function finishedTasks(writes: readonly CheckpointPendingWrite[]): Set<string> {
  return new Set(writes.flatMap(([task, channel]) => (WAITING.includes(channel) ? [] : [task])));
}

/** Channels that an unfinished task writes. */
const WAITING: readonly string[] = [INTERRUPT, RESUME, ERROR];
