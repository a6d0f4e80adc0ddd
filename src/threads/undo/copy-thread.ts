import type { BaseCheckpointSaver, CheckpointTuple } from "@langchain/langgraph";
import type { CheckpointPendingWrite } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";

/**
 * Copies a thread to another id, with its history up to `checkpoint`. Work after that checkpoint is left out, and a step
 * that had started there starts again. Throws `invalid-request` for an unknown checkpoint.
 */
export async function copyThread(
  saver: BaseCheckpointSaver,
  { from, to, checkpoint }: { from: string; to: string; checkpoint?: string },
): Promise<void> {
  const all = await checkpointsOf(saver, from);
  const last = checkpoint === undefined ? all.length : all.findIndex(({ id }) => id === checkpoint) + 1;
  if (last === 0) {
    throw new HarnessError(
      "invalid-request",
      `There is no checkpoint ${JSON.stringify(checkpoint)} in ${from}.`,
    );
  }
  const line = lineOf(all.slice(0, last));
  for (const { ns, id, parent, tuple } of all.slice(0, last)) {
    if (ns === "" && !line.has(id)) continue;
    const place = { thread_id: to, checkpoint_ns: ns };
    const at = { configurable: { ...place, ...(parent !== undefined && { checkpoint_id: parent }) } };
    await saver.put(at, tuple.checkpoint, tuple.metadata!, tuple.checkpoint.channel_versions);
    // The writes after the last checkpoint led to later ones, which are left out.
    if (id === checkpoint && all.some((other) => other.parent === id)) continue;
    for (const [task, writes] of byTask(tuple.pendingWrites ?? [])) {
      await saver.putWrites({ configurable: { ...place, checkpoint_id: id } }, writes, task);
    }
  }
}

interface SavedCheckpoint {
  ns: string;
  id: string;
  parent: string | undefined;
  tuple: CheckpointTuple;
}

/** All checkpoints of a thread, oldest first. */
async function checkpointsOf(saver: BaseCheckpointSaver, thread: string): Promise<SavedCheckpoint[]> {
  const checkpoints: SavedCheckpoint[] = [];
  for await (const tuple of saver.list({ configurable: { thread_id: thread } })) {
    const { checkpoint_ns: ns = "", checkpoint_id: id } = tuple.config.configurable ?? {};
    const parent = tuple.parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
    checkpoints.push({ ns: String(ns), id: String(id), parent, tuple });
  }
  return checkpoints.toReversed();
}

/** The ids of the main graph's checkpoints that led to the newest: after an undo there are others. */
function lineOf(all: readonly SavedCheckpoint[]): Set<string> {
  const main = new Map(all.flatMap((one) => (one.ns === "" ? [[one.id, one] as const] : [])));
  const line = new Set<string>();
  for (
    let at = [...main.values()].at(-1);
    at;
    at = at.parent === undefined ? undefined : main.get(at.parent)
  ) {
    line.add(at.id);
  }
  return line;
}

function byTask(writes: readonly CheckpointPendingWrite[]): Map<string, [string, unknown][]> {
  const tasks = new Map<string, [string, unknown][]>();
  for (const [task, channel, value] of writes) {
    const list = tasks.get(task) ?? [];
    list.push([channel, value]);
    tasks.set(task, list);
  }
  return tasks;
}
