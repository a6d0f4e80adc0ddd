import { isDeepStrictEqual } from "node:util";
import type { BaseCheckpointSaver, CheckpointTuple, StateSnapshot } from "@langchain/langgraph";
import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import { diffTodos, patchTodos, type Todo } from "../../plan/index.ts";
import type { RunAgent } from "../prepare/index.ts";
import { planAfter } from "./merged-plan.ts";

/** LangGraph's task for input that comes while a step waits, such as the `update` of a `Command` with answers. */
export const INPUT_TASK = "00000000-0000-0000-0000-000000000000";

const TODOS = "todos";

/**
 * Returns a function that replaces the plan of a thread that stopped in the middle of a step. The plan becomes input of
 * that step: a new checkpoint, as `updateState` makes one, would restart the waiting calls, or drop them if others of
 * their turn have finished. Throws `turn-unfinished` if the result would differ from the edit, because a finished call of
 * the turn changed the same items.
 */
export async function waitingEdit(
  agent: RunAgent,
  { config, tasks, values }: StateSnapshot,
  newTodos: readonly Todo[],
): Promise<() => Promise<void>> {
  const saver = agent.graph.checkpointer as BaseCheckpointSaver;
  const tuple = await saver.getTuple(config);
  const writes = tuple?.pendingWrites ?? [];
  const edits = editsIn(writes);
  const finishedWrites = tasks.flatMap(({ id }) =>
    writes.flatMap(([task, channel, value]) => (task === id && channel === TODOS ? [value] : [])),
  );

  const { todos: current = [] } = values as { todos?: Todo[] };
  // LangGraph applies finished tasks after the input, so the edit is based on the plan before them.
  const start = tuple?.checkpoint.channel_values[TODOS] as Todo[] | undefined;
  const edit = patchTodos([...planAfter(agent, start, edits)], diffTodos(current, newTodos));
  if (!isKept(() => planAfter(agent, start, [...edits, edit], finishedWrites), newTodos)) {
    const thread = String(config.configurable?.["thread_id"]);
    const message = `The plan cannot be changed this way while ${thread} waits in the middle of a turn: run holdfast resume ${thread} first.`;
    throw new HarnessError("turn-unfinished", message);
  }
  return () => addInput(saver, tuple!, [TODOS, edit]);
}

/** The plan of a checkpoint, with users' edits while its step waited. */
export function planAt(agent: RunAgent, { checkpoint, pendingWrites = [] }: CheckpointTuple): Todo[] {
  const start = checkpoint.channel_values[TODOS] as Todo[] | undefined;
  const edits = editsIn(pendingWrites);
  return edits.length > 0 ? planAfter(agent, start, edits) : (start ?? []);
}

/** Adds input to the step that a thread stopped before or in. */
export async function waitingInput(
  agent: RunAgent,
  { config }: Pick<StateSnapshot, "config">,
  write: [channel: string, value: unknown],
): Promise<void> {
  const saver = agent.graph.checkpointer as BaseCheckpointSaver;
  await addInput(saver, (await saver.getTuple(config))!, write);
}

/** Appends an input. All earlier ones are written again: a checkpointer keeps the first writes of a task by index. */
async function addInput(
  saver: BaseCheckpointSaver,
  { config, pendingWrites = [] }: CheckpointTuple,
  write: [channel: string, value: unknown],
): Promise<void> {
  const earlier = inputWrites(pendingWrites).map(([, name, value]): [string, unknown] => [name, value]);
  await saver.putWrites(config, [...earlier, write], INPUT_TASK);
}

function editsIn(writes: readonly CheckpointPendingWrite[]): unknown[] {
  return inputWrites(writes).flatMap(([, channel, value]) => (channel === TODOS ? [value] : []));
}

function inputWrites(writes: readonly CheckpointPendingWrite[]): CheckpointPendingWrite[] {
  return writes.filter(([task, channel]) => task === INPUT_TASK && !channel.startsWith("__"));
}

function isKept(result: () => Todo[], newTodos: readonly Todo[]): boolean {
  try {
    return isDeepStrictEqual(result(), newTodos);
  } catch (error) {
    if (HarnessError.from(error)?.code === "invalid-plan") return false;
    throw error;
  }
}
