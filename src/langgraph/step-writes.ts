import { ToolMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import {
  INTERRUPT,
  type BaseCheckpointSaver,
  type CheckpointPendingWrite as SavedWrite,
} from "@langchain/langgraph-checkpoint";
import { ASKED_IN_KEY } from "./nested-run.ts";
import { checkpointerOf, taskOf } from "./task.ts";

export type { SavedWrite };

/** The step that a task belongs to, and the checkpoint that it started from. */
export interface Step {
  task: string;
  saver: BaseCheckpointSaver;
  /** Names the checkpoint that the step started from. */
  config: RunnableConfig & { configurable: Record<string, unknown> };
}

/** The step of a task, from its configuration; undefined without a checkpointer. */
export function stepOf(configurable: Record<string, unknown> | undefined): Step | undefined {
  const { thread_id, checkpoint_ns, checkpoint_map } = configurable ?? {};
  const saver = checkpointerOf(configurable);
  if (!saver) return undefined;
  const ns = String(checkpoint_ns).split("|").slice(0, -1).join("|");
  const checkpoint_id = (checkpoint_map as Record<string, string> | undefined)?.[ns];
  return {
    task: String(taskOf(configurable)),
    saver,
    config: { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } },
  };
}

/** The callers' steps that a sub-agent's step is a part of, from the outermost. Empty for the main graph. */
export function callersOf(configurable: Record<string, unknown>): Step[] {
  const { thread_id, checkpoint_ns, checkpoint_map } = configurable;
  const saver = checkpointerOf(configurable)!;
  const askedIn = configurable[ASKED_IN_KEY] as Record<string, string> | undefined;
  const parts = String(checkpoint_ns).split("|").slice(0, -1);
  return parts.flatMap((part, at) => {
    const ns = parts.slice(0, at).join("|");
    const checkpoint_id = (checkpoint_map as Record<string, string> | undefined)?.[ns];
    const task = askedIn?.[part] ?? part.split(":", 2)[1];
    if (task === undefined || checkpoint_id === undefined) return [];
    return [{ task, saver, config: { configurable: { thread_id, checkpoint_ns: ns, checkpoint_id } } }];
  });
}

export interface StepWrites {
  /** The saved writes of the step's tasks. LangGraph runs only unfinished tasks again. */
  writes: readonly SavedWrite[];
  /** The value of the interrupt that this task last stopped with. */
  asked: unknown;
}

/** Reads the writes of earlier invocations in a task's step, from the task's configuration. */
export async function stepWrites(configurable: Record<string, unknown>): Promise<StepWrites> {
  const step = stepOf(configurable);
  const saved = await step?.saver.getTuple(step.config);
  const writes = saved?.pendingWrites ?? [];
  return { writes, asked: step && lastAsked(writes, step.task) };
}

/** The value of the interrupt that a task last stopped with. */
export function lastAsked(writes: readonly SavedWrite[], task: string): unknown {
  const last = writes.findLast(([id, channel]) => id === task && channel === INTERRUPT);
  return (last?.[2] as { value?: unknown } | undefined)?.value;
}

/** The updates by finished tasks of a step, by the id of the tool call that each has answered. */
export function savedResults(
  writes: readonly SavedWrite[],
): Map<string, [channel: string, value: unknown][]> {
  const results = new Map<string, [string, unknown][]>();
  for (const [task, channel, value] of writes) {
    if (channel !== "messages") continue;
    const message = [value].flat().find((one) => ToolMessage.isInstance(one));
    if (!ToolMessage.isInstance(message)) continue;
    const update = writes.flatMap(([id, key, written]): [string, unknown][] =>
      id === task ? [[key, written]] : [],
    );
    results.set(message.tool_call_id, update);
  }
  return results;
}
