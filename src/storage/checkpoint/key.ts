import type { RunnableConfig } from "@langchain/core/runnables";
import { getCheckpointId } from "@langchain/langgraph-checkpoint";
import { HarnessError } from "../../errors.ts";
import { CONFIG } from "../../marks.ts";

/** The key of a checkpoint: its thread, its namespace (empty for the main graph) and its id. */
export interface CheckpointKey {
  threadId: string;
  ns: string;
  id: string;
}

/** The key in a config; `id` is empty when the config names no checkpoint. Throws when it names no thread. */
export function readKey(config: RunnableConfig): CheckpointKey {
  const { thread_id: threadId, checkpoint_ns: ns } = config.configurable ?? {};
  if (typeof threadId !== "string" || threadId === "") {
    throw new HarnessError(
      "invalid-request",
      'The thread to save is not named: pass { configurable: { thread_id: "…" } }, a string that is not empty.',
    );
  }
  return { threadId, ns: typeof ns === "string" ? ns : "", id: getCheckpointId(config) };
}

/** The token of the lease that a run writes under, if its config has one. */
export function leaseToken({ configurable }: RunnableConfig): string | undefined {
  const token: unknown = configurable?.[CONFIG.lease];
  return typeof token === "string" ? token : undefined;
}

export function toConfig({ threadId, ns, id }: CheckpointKey): {
  configurable: { thread_id: string; checkpoint_ns: string; checkpoint_id: string };
} {
  return { configurable: { thread_id: threadId, checkpoint_ns: ns, checkpoint_id: id } };
}

/** The key of a checkpoint in the tables: the thread's number, the namespace, and the checkpoint's id. */
export interface CheckpointRowKey {
  thread: number;
  ns: string;
  id: string;
}
